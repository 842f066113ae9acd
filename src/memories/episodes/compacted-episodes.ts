import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { openingTokens } from '../../core/retrieval/opening.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import type { AgentRef } from '../../core/turn/extension-points.js';
import { OpenReflections } from '../../core/turn/open-reflections.js';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { aggregateOf, type CompactedSummary } from './compaction.models.js';
import { RAW_DIGEST_SQL, type RawEpisode } from './raw-episodes.js';

/** What has to be settled before the transaction: the text and its vector. */
export interface PreparedSummary extends CompactedSummary {
  embedding: number[] | null;
}

export interface Compaction {
  orgId: string;
  agent: AgentRef;
  /** At least one. */
  members: readonly RawEpisode[];
  /** Those of the members that stay raw. */
  exemplars: readonly RawEpisode[];
  /** Empty where the members have none in common. */
  toolSequence: readonly string[];
  summary: PreparedSummary;
}

/** One row for many turns (mission, "Episode lifecycle"): `count` says for how many, exemplars included. */
@Injectable()
export class CompactedEpisodes {
  constructor(
    private readonly database: Database,
    private readonly embeddings: Embeddings,
    private readonly reflections: OpenReflections,
  ) {}

  /** Embeds outside of any transaction; a row whose vector fails is stored without, for the re-embedding job. */
  async prepare(summary: CompactedSummary): Promise<PreparedSummary> {
    const [embedding] = await this.embeddings.embedMany([summary.commonTaskPattern]);
    return { ...summary, embedding: embedding ?? null };
  }

  /**
   * Puts one row in the place of the members, in one transaction, joining the running one. False, and nothing is
   * written, where they are no longer as they were read: one was erased, taken into a skill or another row, or opened again.
   */
  async replace(compaction: Compaction): Promise<boolean> {
    return this.database.transaction(async () => {
      const { orgId, agent, members, exemplars } = compaction;
      if (!(await this.hold(compaction))) return false;
      await this.insert(compaction);
      const kept = new Set(exemplars.map(({ id }) => id));
      const parameters = (ids: readonly string[]): unknown[] => [orgId, agent.id, ids, ...windowOf(members)];
      await this.database.query(
        `delete from episodes where ${MEMBERS}`,
        parameters(members.map(({ id }) => id).filter((id) => !kept.has(id))),
      );
      await this.database.query(`update episodes set is_exemplar = true where ${MEMBERS}`, parameters([...kept]));
      return true;
    });
  }

  /**
   * Drops the oldest exemplars, at most `limit`: the rows that they stand for count them already, and no longer name
   * them. Answers how many.
   */
  async retireExemplars(orgId: string, agentId: string, limit: number): Promise<number> {
    return this.database.transaction(async () => {
      const gone = await this.database.query<{ turn_id: string }>(
        `delete from episodes using (
           select id, started_at from episodes where org_id = $1 and agent_id = $2 and kind = 'raw' and is_exemplar
           order by ended_at, id limit $3) old
         where episodes.id = old.id and episodes.started_at = old.started_at
           and episodes.org_id = $1 and episodes.agent_id = $2 returning turn_id`,
        [orgId, agentId, limit],
      );
      await this.database.query(
        `update episodes set exemplar_turn_ids = (
           select coalesce(jsonb_agg(turn_id order by place), '[]')
           from jsonb_array_elements_text(exemplar_turn_ids) with ordinality as kept(turn_id, place)
           where turn_id <> all($3::text[]))
         where org_id = $1 and agent_id = $2 and kind = 'compacted' and jsonb_exists_any(exemplar_turn_ids, $3::text[])`,
        [orgId, agentId, gone.map((row) => row.turn_id)],
      );
      return gone.length;
    });
  }

  /** Drops the rows that end before a time, with their exemplars. Answers how many rows, exemplars not counted. */
  async evict(orgId: string, agentId: string, endedBefore: Date): Promise<number> {
    return this.database.transaction(async () => {
      const gone = await this.database.query<{ exemplar_turn_ids: string[] }>(
        `delete from episodes where org_id = $1 and agent_id = $2 and kind = 'compacted' and ended_at < $3
         returning exemplar_turn_ids`,
        [orgId, agentId, endedBefore],
      );
      await this.database.query(
        `delete from episodes where org_id = $1 and agent_id = $2 and kind = 'raw' and is_exemplar
           and turn_id = any($3::uuid[])`,
        [orgId, agentId, gone.flatMap((row) => row.exemplar_turn_ids)],
      );
      return gone.length;
    });
  }

  /** The turns first, as intake does, so that nobody waits for us while we wait for him. */
  private async hold({ orgId, agent, members }: Compaction): Promise<boolean> {
    const turnIds = members.flatMap(({ turnId }) => turnId ?? []);
    if (!(await this.reflections.noneOf(orgId, turnIds))) return false;
    const rows = await this.database.query<{ id: string; digest: string }>(
      `select id, ${RAW_DIGEST_SQL} as digest from episodes where ${MEMBERS} and not is_exemplar
       order by id for update`,
      [orgId, agent.id, members.map(({ id }) => id), ...windowOf(members)],
    );
    const digests = new Map(rows.map(({ id, digest }) => [id, digest]));
    return members.every(({ id, digest }) => digests.get(id) === digest);
  }

  private async insert({ orgId, agent, members, exemplars, toolSequence, summary }: Compaction): Promise<void> {
    const whole = aggregateOf(members);
    const { search, length } = searchColumns(summary.commonTaskPattern);
    await this.database.query(
      `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, conversation_id, kind, count,
         task_summary, plan_summary, plan_decision, engaged, tool_sequence, skills_used, review_outcome, ended_at,
         duration_ms, work_key, common_task_pattern, common_outcome, success_rate, subjects_involved, notable_patterns,
         exemplar_turn_ids, is_exemplar, source_turn_ids, search, search_length, opening, embedding, embedding_model,
         created_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'compacted', $8, $9, '', 'plan', $10, $11::jsonb, $12::jsonb, $13, $14, $15,
         '', $9, $16, $17, $18::jsonb, $19, $20::jsonb, false, $21::jsonb, to_tsvector('english', $22), $23,
         $24, $25::vector, $26, $27)`,
      [
        randomUUID(),
        whole.startedAt,
        orgId,
        agent.id,
        agent.handle,
        agent.role,
        whole.conversationId,
        whole.count,
        summary.commonTaskPattern,
        members.some(({ engaged }) => engaged),
        JSON.stringify(toolSequence),
        JSON.stringify(whole.skillsUsed),
        whole.reviewOutcome,
        whole.endedAt,
        whole.durationMs,
        summary.commonOutcome,
        whole.successRate,
        JSON.stringify(summary.subjectsInvolved),
        summary.notablePatterns,
        JSON.stringify(exemplars.flatMap(({ turnId }) => turnId ?? [])),
        JSON.stringify(whole.sourceTurnIds),
        search,
        length,
        openingTokens(summary.commonTaskPattern).join(' '),
        summary.embedding && JSON.stringify(summary.embedding),
        summary.embedding && this.embeddings.model,
        new Date(),
      ],
    );
  }
}

/** By id and, so that a hypertable looks into few chunks, by the window of the members. */
const MEMBERS = `org_id = $1 and agent_id = $2 and id = any($3::uuid[]) and started_at between $4 and $5
  and kind = 'raw'`;

function windowOf(members: readonly RawEpisode[]): [Date, Date] {
  const times = members.map(({ startedAt }) => startedAt.getTime());
  return [new Date(Math.min(...times)), new Date(Math.max(...times))];
}
