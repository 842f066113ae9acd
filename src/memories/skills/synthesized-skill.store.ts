import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { EpisodeConsolidation } from '../episodes/episode-consolidation.js';
import {
  LIVE_SKILL,
  SKILL_COLUMNS,
  SKILL_SUMMARY_COLUMNS,
  type SkillOrigin,
  type SkillOwner,
  type SkillRow,
  type SkillState,
  type SkillSummary,
  type SkillTrigger,
} from './skill.models.js';
import { skillProblem, type SkillProblem } from './skill.rules.js';

export interface SkillDraft extends SkillOwner {
  name: string;
  description: string;
  /** The SKILL.md body; stored verbatim. */
  content: string;
  toolSequence: readonly string[];
  /** Episodes that it was drafted from; they are marked as consolidated in the same transaction. */
  sourceEpisodeIds: readonly string[];
  sourceTurnIds: readonly string[];
  origin: SkillOrigin;
  trigger: SkillTrigger | null;
  clusterFingerprint: string | null;
  /** @default false */
  operatorEdited?: boolean;
  /** An operator let it through although screening flags it. @default false */
  operatorReleased?: boolean;
}

export type SkillCreation = { status: 'created'; skill: SkillRow } | ({ status: 'refused' } & SkillProblem);

/**
 * The skills of each agent (mission, "SkillSynthesizer"; keyed by agent and name). Every method joins the running
 * transaction. Screening is its callers'; changes of a skill's text are `SkillHistory`'s.
 */
@Injectable()
export class SynthesizedSkillStore {
  constructor(
    private readonly database: Database,
    private readonly episodes: EpisodeConsolidation,
    private readonly settings: Settings,
  ) {}

  /**
   * Version 1 of a skill, and the marks on the episodes that it was drafted from. Refused, with nothing written and the
   * transaction unharmed, where a rule on name, description or body is broken, the agent has as many live skills as it
   * may (`max_skills_per_agent`), or the name is that of a live one.
   */
  async create(draft: SkillDraft): Promise<SkillCreation> {
    return this.database.transaction(async () => {
      const problem = await this.problemOf(draft);
      if (problem) return { status: 'refused', ...problem };
      const skill = await this.insert(draft);
      if (!skill) return { status: 'refused', ...nameTaken(draft.name) };
      const { orgId, agentId, sourceEpisodeIds: episodeIds } = draft;
      await this.episodes.mark({ orgId, agentId, episodeIds, skillId: skill.id, at: skill.created_at });
      return { status: 'created', skill };
    });
  }

  /** The first rule that the draft breaks; null where it may be created. */
  async problemOf(draft: SkillDraft): Promise<SkillProblem | null> {
    const problem = skillProblem(draft, this.settings.learning.skill_refinement.max_body_chars);
    if (problem) return problem;
    if (await this.liveByName(draft, draft.name)) return nameTaken(draft.name);
    return this.capProblem(draft);
  }

  /** Whether one more live skill is one too many. Holds the agent's row, so that two cannot both be the last. */
  async capProblem(owner: SkillOwner): Promise<SkillProblem | null> {
    await this.database.query(`select 1 from agents where org_id = $1 and id = $2 for no key update`, [
      owner.orgId,
      owner.agentId,
    ]);
    const limit = this.settings.learning.skill_synthesis.max_skills_per_agent;
    const count = await this.countLive(owner);
    if (count < limit) return null;
    return {
      rule: 'skill_cap',
      message: `the agent has ${count} live skills and may have ${limit}: archive or reject one that is not used`,
    };
  }

  async countLive(owner: SkillOwner): Promise<number> {
    const [row] = await this.database.query<{ live: number }>(
      `select count(*)::int as live from synthesized_skills where org_id = $1 and agent_id = $2 and ${LIVE_SKILL}`,
      [owner.orgId, owner.agentId],
    );
    return row!.live;
  }

  async liveByName(owner: SkillOwner, name: string): Promise<SkillRow | null> {
    const [row] = await this.database.query<SkillRow>(
      `select ${SKILL_COLUMNS} from synthesized_skills
       where org_id = $1 and agent_id = $2 and name = $3 and ${LIVE_SKILL}`,
      [owner.orgId, owner.agentId, name],
    );
    return row ?? null;
  }

  /** The row of a skill in whatever state, held until the transaction ends. */
  async lock(owner: SkillOwner, id: string): Promise<SkillRow | null> {
    const [row] = await this.database.query<SkillRow>(
      `select ${SKILL_COLUMNS} from synthesized_skills where org_id = $1 and agent_id = $2 and id = $3 for update`,
      [owner.orgId, owner.agentId, id],
    );
    return row ?? null;
  }

  /** The skill that a name stands for: the live one, else the one that was put away last. */
  async byName(owner: SkillOwner, name: string): Promise<SkillRow | null> {
    const [row] = await this.database.query<SkillRow>(
      `select ${SKILL_COLUMNS} from synthesized_skills where org_id = $1 and agent_id = $2 and name = $3
       order by (${LIVE_SKILL}) desc, archived_at desc nulls last, created_at desc, id desc limit 1`,
      [owner.orgId, owner.agentId, name],
    );
    return row ?? null;
  }

  /** All skills in the states given, newest first. */
  async inStates(owner: SkillOwner, states: readonly SkillState[]): Promise<SkillSummary[]> {
    return this.database.query<SkillSummary>(
      `select ${SKILL_SUMMARY_COLUMNS} from synthesized_skills
       where org_id = $1 and agent_id = $2 and state = any($3::text[]) order by created_at desc, id desc`,
      [owner.orgId, owner.agentId, states],
    );
  }

  /** The skills that an agent has: neither archived nor rejected; newest first. */
  live(owner: SkillOwner): Promise<SkillSummary[]> {
    return this.inStates(owner, ['active', 'stale']);
  }

  /** What the live skills of an agent say. */
  async liveBodies(owner: SkillOwner): Promise<Pick<SkillRow, 'content'>[]> {
    return this.database.query(
      `select content from synthesized_skills where org_id = $1 and agent_id = $2 and ${LIVE_SKILL}`,
      [owner.orgId, owner.agentId],
    );
  }

  /** Counts one use; a stale skill is active again with it. Null where the skill is no longer live. */
  async markUsed(owner: SkillOwner, id: string): Promise<{ skill: SkillRow; revived: boolean } | null> {
    const [row] = await this.database.query<SkillRow & { prior_state: SkillState }>(
      `with before as (
         select id as before_id, state as prior_state from synthesized_skills
         where org_id = $1 and agent_id = $2 and id = $3 and ${LIVE_SKILL} for update)
       update synthesized_skills set use_count = use_count + 1, last_used_at = $4, state = 'active', stale_at = null
       from before where id = before_id returning ${SKILL_COLUMNS}, prior_state`,
      [owner.orgId, owner.agentId, id, new Date()],
    );
    return row ? { skill: row, revived: row.prior_state === 'stale' } : null;
  }

  /** Counts how a turn ended that used these live skills, each once. */
  async countOutcome(owner: SkillOwner, names: readonly string[], outcome: 'done' | 'failed'): Promise<void> {
    const column = outcome === 'done' ? 'done_count' : 'failed_count';
    // Locked in one order, so that two turns that used the same skills do not wait for each other in a circle.
    await this.database.query(
      `with used as (
         select id as used_id from synthesized_skills
         where org_id = $1 and agent_id = $2 and name = any($3::text[]) and ${LIVE_SKILL} order by id for update)
       update synthesized_skills set ${column} = ${column} + 1 from used where id = used_id`,
      [owner.orgId, owner.agentId, names],
    );
  }

  private async insert(draft: SkillDraft): Promise<SkillRow | null> {
    const [row] = await this.database.query<SkillRow>(
      `insert into synthesized_skills (id, org_id, agent_id, name, description, content, tool_sequence,
         source_episode_ids, source_turn_ids, origin, trigger, cluster_fingerprint, operator_edited, operator_released,
         version, version_kind, version_at, state, pinned, use_count, done_count, failed_count, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9::jsonb, $10, $11, $12, $13, $14, 1, 'created', $15,
         'active', false, 0, 0, 0, $15, $15)
       on conflict (org_id, agent_id, name) where ${LIVE_SKILL} do nothing returning ${SKILL_COLUMNS}`,
      [
        randomUUID(),
        draft.orgId,
        draft.agentId,
        draft.name,
        draft.description,
        draft.content,
        JSON.stringify(draft.toolSequence),
        JSON.stringify(draft.sourceEpisodeIds),
        JSON.stringify(draft.sourceTurnIds),
        draft.origin,
        draft.trigger,
        draft.clusterFingerprint,
        draft.operatorEdited ?? false,
        draft.operatorReleased ?? false,
        new Date(),
      ],
    );
    return row ?? null;
  }
}

function nameTaken(name: string): SkillProblem {
  return { rule: 'name_taken', message: `the agent already has a skill named "${name}": choose another name` };
}
