import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { decodeCursor, pageOf, type Page, type PageRequest } from '../../platform/http/page.js';
import {
  SKILL_COLUMNS,
  type SkillChangeKind,
  type SkillOwner,
  type SkillRow,
  type SkillVersionView,
} from './skill.models.js';

/** What a version holds, and a rollback brings back. */
export interface SkillText {
  description: string;
  content: string;
  tool_sequence: string[];
  source_episode_ids: string[];
  source_turn_ids: string[];
  operator_edited: boolean;
  operator_released: boolean;
}

export interface SkillChange extends Partial<SkillText> {
  kind: SkillChangeKind;
  /** Why, or what was noted. */
  note: string | null;
}

interface VersionRow {
  skill_id: string;
  version: number;
  description: string;
  content: string;
  kind: SkillChangeKind;
  note: string | null;
  archived_at: Date | null;
}

const TEXT_COLUMNS = `description, content, tool_sequence, source_episode_ids, source_turn_ids, operator_edited,
  operator_released`;

/** The versions of skills (mission, "Versioning"): every change archives what was there before it. */
@Injectable()
export class SkillHistory {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * The next version of a skill whose row the running transaction holds. The state before it is archived in the same
   * transaction; of the archived ones the newest `max_versions_kept` stay.
   */
  async change(locked: SkillRow, change: SkillChange): Promise<SkillRow> {
    const now = new Date();
    await this.database.query(
      `insert into synthesized_skill_versions (id, skill_id, org_id, agent_id, version, ${TEXT_COLUMNS}, kind, note,
         created_at, archived_at)
       select $4, id, org_id, agent_id, version, ${TEXT_COLUMNS}, version_kind, version_note, version_at, $5
       from synthesized_skills where org_id = $1 and agent_id = $2 and id = $3`,
      [locked.org_id, locked.agent_id, locked.id, randomUUID(), now],
    );
    const next: SkillText = { ...textOf(locked), ...withoutAbsent(change) };
    const [row] = await this.database.query<SkillRow>(
      `update synthesized_skills set version = version + 1, description = $4, content = $5, tool_sequence = $6::jsonb,
         source_episode_ids = $7::jsonb, source_turn_ids = $8::jsonb, operator_edited = $9, operator_released = $10,
         version_kind = $11, version_note = $12, version_at = $13, updated_at = $13
       where org_id = $1 and agent_id = $2 and id = $3 returning ${SKILL_COLUMNS}`,
      [
        locked.org_id,
        locked.agent_id,
        locked.id,
        next.description,
        next.content,
        JSON.stringify(next.tool_sequence),
        JSON.stringify(next.source_episode_ids),
        JSON.stringify(next.source_turn_ids),
        next.operator_edited,
        next.operator_released,
        change.kind,
        change.note,
        now,
      ],
    );
    await this.prune(locked);
    return row!;
  }

  /** What a version of the skill held, the live one too; null where it is unknown or no longer kept. */
  async textAt(skill: SkillRow, version: number): Promise<SkillText | null> {
    if (version === skill.version) return textOf(skill);
    const [row] = await this.database.query<SkillText>(
      `select ${TEXT_COLUMNS} from synthesized_skill_versions
       where org_id = $1 and agent_id = $2 and skill_id = $3 and version = $4`,
      [skill.org_id, skill.agent_id, skill.id, version],
    );
    return row ?? null;
  }

  /** The live version first, then the archived ones, newest first. */
  async list(owner: SkillOwner, skillId: string, request: PageRequest): Promise<Page<SkillVersionView>> {
    const after = decodeCursor(request.cursor);
    const all = `(
      select id as skill_id, version, description, content, version_kind as kind, version_note as note,
        null::timestamptz as archived_at
      from synthesized_skills where org_id = $1 and agent_id = $2 and id = $3
      union all
      select skill_id, version, description, content, kind, note, archived_at
      from synthesized_skill_versions where org_id = $1 and agent_id = $2 and skill_id = $3) versions`;
    const parameters = [owner.orgId, owner.agentId, skillId];
    const rows = await this.database.query<VersionRow>(
      `select * from ${all} where $4::bigint is null or version < $4 order by version desc limit $5`,
      [...parameters, after?.at.getTime() ?? null, request.limit + 1],
    );
    const [count] = await this.database.query<{ total: number }>(
      `select count(*)::int as total from ${all}`,
      parameters,
    );
    return pageOf({
      rows,
      limit: request.limit,
      total: count!.total,
      // Versions are ordered by their number, so it stands in the cursor where other lists have a time.
      position: (row) => [new Date(row.version), row.skill_id],
      view: ({ skill_id: _, archived_at: at, ...row }) => ({ ...row, archived_at: at?.toISOString() ?? null }),
    });
  }

  private async prune(skill: SkillRow): Promise<void> {
    const kept = this.settings.learning.skill_refinement.max_versions_kept;
    if (kept === 0) return;
    await this.database.query(
      `delete from synthesized_skill_versions where org_id = $1 and agent_id = $2 and skill_id = $3 and version not in (
         select version from synthesized_skill_versions
         where org_id = $1 and agent_id = $2 and skill_id = $3 order by version desc limit $4)`,
      [skill.org_id, skill.agent_id, skill.id, kept],
    );
  }
}

function textOf(skill: SkillRow): SkillText {
  return {
    description: skill.description,
    content: skill.content,
    tool_sequence: skill.tool_sequence,
    source_episode_ids: skill.source_episode_ids,
    source_turn_ids: skill.source_turn_ids,
    operator_edited: skill.operator_edited,
    operator_released: skill.operator_released,
  };
}

function withoutAbsent(change: Partial<SkillText>): Partial<SkillText> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
