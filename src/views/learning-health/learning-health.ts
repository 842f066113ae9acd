import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { doneRates, type DoneRates, type LiveSkill, type TurnGroup } from './done-rates.js';

/** Average uses of a skill under which the library does not do what it claims (Berlot-Attwell et al., 2024). */
const USE_THRESHOLD = 0.1;
/** Younger skills have hardly had the chance. */
const MATURE_AFTER_MS = 7 * 24 * 3_600_000;

/** One agent's row of the view `learning_health`: what its live skills are used for. */
export interface AgentHealth {
  agent_id: string;
  agent_handle: string;
  total_skills: number;
  skills_used_at_least_once: number;
  total_skill_uses: number;
  most_recent_skill_use: string | null;
  /** 0 where there is no skill. */
  avg_uses_per_skill: number;
  /** 0 where there is no skill. */
  avg_skill_age_days: number;
  /** Whether skills older than 7 days are used less than 0.1 times each on average; false where there is none. */
  below_threshold: boolean;
}

/** One item of `GET /learning-health`. */
export type LearningHealthView = AgentHealth & DoneRates;

export interface HealthFilter {
  agentId?: string;
  role?: string;
  unit?: string;
  belowThreshold?: boolean;
}

interface HealthRow extends Omit<AgentHealth, 'most_recent_skill_use'> {
  most_recent_skill_use: Date | null;
  created_at: Date;
}

interface TurnRow {
  agent_id: string;
  tool_sequence: string[];
  skills_used: string[];
  review_outcome: 'done' | 'failed';
  count: number;
}

/** The read model of `GET /learning-health` (mission, "Telemetry harness"). */
@Injectable()
export class LearningHealth {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Every agent of the organisation, with or without skills; newest first. */
  async list(orgId: string, request: PageRequest & HealthFilter): Promise<Page<LearningHealthView>> {
    const { agentId = null, role = null, unit = null, belowThreshold = null } = request;
    const page = await keysetList<HealthRow, AgentHealth>(this.database, {
      columns: `health.agent_id, health.agent_handle, health.total_skills, health.skills_used_at_least_once,
        health.total_skill_uses, health.most_recent_skill_use, health.avg_uses_per_skill, health.avg_skill_age_days,
        mature.below_threshold, agents.created_at`,
      from: `learning_health health
        join agents on agents.org_id = health.org_id and agents.id = health.agent_id
        cross join lateral (
          select coalesce(avg(use_count) < $6, false) as below_threshold from synthesized_skills skill
          where skill.org_id = health.org_id and skill.agent_id = health.agent_id
            and state in ('active', 'stale') and skill.created_at < $7) mature`,
      filter: `health.org_id = $1 and ($2::uuid is null or health.agent_id = $2)
        and ($3::text is null or agents.role = $3) and ($4::text is null or agents.unit = $4)
        and ($5::boolean is null or mature.below_threshold = $5)`,
      parameters: [orgId, agentId, role, unit, belowThreshold, USE_THRESHOLD, new Date(Date.now() - MATURE_AFTER_MS)],
      time: 'agents.created_at',
      id: 'agents.id',
      request,
      position: (row) => [row.created_at, row.agent_id],
      view: ({ created_at: _, ...row }) => ({
        ...row,
        most_recent_skill_use: row.most_recent_skill_use?.toISOString() ?? null,
      }),
    });
    const ids = page.items.filter(({ total_skills: skills }) => skills > 0).map(({ agent_id: id }) => id);
    const [skills, turns] = [await this.skillsOf(orgId, ids), await this.turnsOf(orgId, ids)];
    const threshold = this.settings.learning.skill_synthesis.cluster_jaccard_threshold;
    return {
      ...page,
      items: page.items.map((item) => ({
        ...item,
        ...doneRates(turns.get(item.agent_id) ?? [], skills.get(item.agent_id) ?? [], threshold),
      })),
    };
  }

  private async skillsOf(orgId: string, agentIds: readonly string[]): Promise<Map<string, LiveSkill[]>> {
    const rows = await this.database.query<{ agent_id: string; name: string; tool_sequence: string[] }>(
      `select agent_id, name, tool_sequence from synthesized_skills
       where org_id = $1 and agent_id = any($2::uuid[]) and state in ('active', 'stale')`,
      [orgId, agentIds],
    );
    return grouped(rows, ({ name, tool_sequence: toolSequence }) => ({ name, toolSequence }));
  }

  /** The turns that there still is an episode of: each once, exemplars too; those that were compacted are not told apart. */
  private async turnsOf(orgId: string, agentIds: readonly string[]): Promise<Map<string, TurnGroup[]>> {
    const rows = await this.database.query<TurnRow>(
      `select agent_id, tool_sequence, skills_used, review_outcome, count(*)::int as count from episodes
       where org_id = $1 and agent_id = any($2::uuid[]) and kind = 'raw' and engaged
         and review_outcome in ('done', 'failed')
       group by agent_id, tool_sequence, skills_used, review_outcome`,
      [orgId, agentIds],
    );
    return grouped(rows, (row) => ({
      toolSequence: row.tool_sequence,
      skillsUsed: row.skills_used,
      outcome: row.review_outcome,
      count: row.count,
    }));
  }
}

function grouped<Row extends { agent_id: string }, Item>(
  rows: readonly Row[],
  item: (row: Row) => Item,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const row of rows) {
    const group = groups.get(row.agent_id);
    if (group) group.push(item(row));
    else groups.set(row.agent_id, [item(row)]);
  }
  return groups;
}
