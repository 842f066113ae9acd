import { Injectable } from '@nestjs/common';
import { reflectionOpenSql } from '../../core/turn/open-reflections.js';
import { Database } from '../../platform/database/database.js';

/** A finished turn as what sums it up needs it. */
export interface RawEpisode {
  id: string;
  turnId: string | null;
  conversationId: string | null;
  /** False for turns that taught nothing and never surface in recall. */
  engaged: boolean;
  taskSummary: string;
  planSummary: string;
  toolSequence: string[];
  skillsUsed: string[];
  reviewOutcome: 'done' | 'failed';
  startedAt: Date;
  endedAt: Date;
  /** Milliseconds. */
  durationMs: number;
  sourceTurnIds: string[];
  /** Of its texts and of the skill it went into: tells whether it is still what was read. */
  digest: string;
}

/** A place in the order from the oldest to the newest. */
export interface EpisodePosition {
  endedAt: Date;
  id: string;
}

export interface FoldableFilter {
  endedBefore?: Date;
  after?: EpisodePosition | null;
  /** @default false */
  engagedOnly?: boolean;
  /** Those that a skill was drafted from, instead of the others. @default false */
  consolidated?: boolean;
  limit: number;
}

interface Owner {
  orgId: string;
  agentId: string;
}

interface RawRow {
  id: string;
  turn_id: string | null;
  conversation_id: string | null;
  engaged: boolean;
  task_summary: string;
  plan_summary: string;
  tool_sequence: string[];
  skills_used: string[];
  review_outcome: 'done' | 'failed';
  started_at: Date;
  ended_at: Date;
  duration_ms: string;
  source_turn_ids: string[];
  digest: string;
}

export const RAW_DIGEST_SQL = `md5(jsonb_build_array(task_summary, plan_summary, consolidated_into_skill_id)::text)`;

const OWN_RAW = `org_id = $1 and agent_id = $2 and kind = 'raw'`;
const OPEN = reflectionOpenSql('episodes');

/**
 * The raw episodes of an agent, as their lifecycle sees them (mission, "Episode lifecycle"). Exemplars stand for a row that
 * counts them already: they are neither folded nor dropped with others, only retired.
 */
@Injectable()
export class RawEpisodes {
  constructor(private readonly database: Database) {}

  /** How many there are, whatever their outcome; an index scan that ends at `limit`. */
  async count({ orgId, agentId }: Owner, limit: number): Promise<number> {
    // Without the order a planner that expects many rows reads the whole table for the few that there are.
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from (
         select from episodes where ${OWN_RAW} order by ended_at, id limit $3) counted`,
      [orgId, agentId, limit],
    );
    return row!.count;
  }

  async countExemplars({ orgId, agentId }: Owner): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from episodes where ${OWN_RAW} and is_exemplar`,
      [orgId, agentId],
    );
    return row!.count;
  }

  /** Those that may be summed up, oldest first: ended for good, no exemplars, and no reflection to come. */
  async foldable({ orgId, agentId }: Owner, filter: FoldableFilter): Promise<RawEpisode[]> {
    const rows = await this.database.query<RawRow>(
      `select id, turn_id, conversation_id, engaged, task_summary, plan_summary, tool_sequence, skills_used,
         review_outcome, started_at, ended_at, duration_ms, source_turn_ids, ${RAW_DIGEST_SQL} as digest
       from episodes
       where ${OWN_RAW} and not is_exemplar and review_outcome in ('done', 'failed')
         and (consolidated_into_skill_id is not null) = $3 and (engaged or not $4::boolean)
         and ($5::timestamptz is null or ended_at < $5)
         and ($6::timestamptz is null or (ended_at, id) > ($6, $7::uuid))
         and not ${OPEN}
       order by ended_at, id limit $8`,
      [
        orgId,
        agentId,
        filter.consolidated ?? false,
        filter.engagedOnly ?? false,
        filter.endedBefore ?? null,
        filter.after?.endedAt ?? null,
        filter.after?.id ?? null,
        filter.limit,
      ],
    );
    return rows.map(rawOf);
  }

  /** Drops unfinished turns that ended before a time, all of them or the `limit` oldest. Answers how many. */
  async dropUnfinished({ orgId, agentId }: Owner, { endedBefore, limit }: Drop): Promise<number> {
    return this.drop(
      `select id, started_at from episodes
       where ${OWN_RAW} and review_outcome = 'self_iterate' and not is_exemplar and ended_at < $3 and not ${OPEN}
       order by ended_at, id limit $4`,
      [orgId, agentId, endedBefore, limit ?? null],
    );
  }

  /** Drops what a skill has taken the place of, by the time when it did. Answers how many. */
  async dropConsolidated({ orgId, agentId }: Owner, consolidatedBefore: Date): Promise<number> {
    return this.drop(
      `select id, started_at from episodes
       where ${OWN_RAW} and consolidated_into_skill_id is not null and not is_exemplar and consolidated_at < $3
         and not ${OPEN}`,
      [orgId, agentId, consolidatedBefore],
    );
  }

  private async drop(which: string, parameters: unknown[]): Promise<number> {
    const rows = await this.database.query(
      `delete from episodes using (${which}) old
       where episodes.id = old.id and episodes.started_at = old.started_at
         and episodes.org_id = $1 and episodes.agent_id = $2 returning episodes.id`,
      parameters,
    );
    return rows.length;
  }
}

interface Drop {
  endedBefore: Date;
  limit?: number;
}

function rawOf(row: RawRow): RawEpisode {
  return {
    id: row.id,
    turnId: row.turn_id,
    conversationId: row.conversation_id,
    engaged: row.engaged,
    taskSummary: row.task_summary,
    planSummary: row.plan_summary,
    toolSequence: row.tool_sequence,
    skillsUsed: row.skills_used,
    reviewOutcome: row.review_outcome,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    durationMs: Number(row.duration_ms),
    sourceTurnIds: row.source_turn_ids,
    digest: row.digest,
  };
}
