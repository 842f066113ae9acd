import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { hashOf, type DiaryKind, type DiaryRow, type DiarySource, type EntryRef } from './diary.models.js';

export interface DiaryDraft {
  orgId: string;
  agentId: string;
  kind: DiaryKind;
  /** Stored verbatim. */
  content: string;
  /** Null for `diary_long`. */
  ttlUntil: Date | null;
  source: DiarySource;
  turnId: string | null;
  conversationId: string | null;
  metadata: Record<string, unknown>;
  /** When the fact was true: of a turn its end, else now. */
  observedAt: Date;
  /**
   * Memories that this one takes the place of; they leave retrieval and stay in history. Left alone are those that were
   * observed later and, unless this one lasts too, those that last.
   */
  supersedes?: readonly string[];
  /** An operator let it through although screening flags it. @default false */
  operatorReleased?: boolean;
}

/** A draft with what has to be settled before the transaction. */
export interface PreparedDraft extends DiaryDraft {
  embedding: number[] | null;
}

export interface DiaryWrite {
  row: DiaryRow;
  /** False where an equal live memory was there already; its life may have been extended. */
  created: boolean;
}

/** SQLSTATE of Postgres. */
const UNIQUE_VIOLATION = '23505';

export const DIARY_COLUMNS = `id, org_id, agent_id, kind, content, ttl_until, source, turn_id, conversation_id, metadata,
  superseded_by, live, operator_released, retrieval_count, last_retrieved_at, embedding is not null as embedded, created_at`;

/** The writing side of an agent's private observation log (mission, "AgentDiary"). Screening is its callers'. */
@Injectable()
export class AgentDiary {
  constructor(
    private readonly database: Database,
    private readonly embeddings: Embeddings,
  ) {}

  /** Embeds outside of any transaction; a memory whose vector fails is stored without, for the re-embedding job. */
  async prepare(draft: DiaryDraft): Promise<PreparedDraft> {
    return { ...draft, embedding: await this.embeddings.embed(draft.content) };
  }

  /**
   * Writes one memory, joining the running transaction. An equal live memory of the agent is answered instead, whoever
   * wrote it and through whichever process; it is extended where the new one would live longer.
   */
  async write(draft: PreparedDraft): Promise<DiaryWrite> {
    return this.database.transaction(async () => {
      const now = new Date();
      const written = (await this.insert(draft, now)) ?? (await this.extend(draft)) ?? (await this.insert(draft, now));
      if (!written) throw new Error(`memory of agent ${draft.agentId} met an equal one that came and went`);
      await this.supersede(draft, written.row, now);
      return written;
    });
  }

  /**
   * Sets when a memory ends; one that had ended lives again. 409 where an equal live memory has taken its place, null
   * where there is no such memory.
   */
  async setEnd(entry: EntryRef, ttlUntil: Date): Promise<DiaryRow | null> {
    return this.asTheOnlyOne(async () => {
      const [current] = await this.database.query<{ content_hash: string }>(
        `select content_hash from agent_diary where org_id = $1 and agent_id = $2 and id = $3 for update`,
        [entry.orgId, entry.agentId, entry.id],
      );
      if (!current) return null;
      const now = new Date();
      await this.refuseEqual(entry, current.content_hash, now);
      const [row] = await this.database.query<DiaryRow>(
        `update agent_diary set ttl_until = $4, live = superseded_by is null, updated_at = $5
         where org_id = $1 and agent_id = $2 and id = $3 returning ${DIARY_COLUMNS}`,
        [entry.orgId, entry.agentId, entry.id, ttlUntil, now],
      );
      return row ?? null;
    });
  }

  /** 409 where an equal live memory exists, null where there is no such memory. A null `ttlUntil` leaves the end. */
  async change(
    entry: EntryRef,
    change: { content: string; ttlUntil: Date | null; embedding: number[] | null; operatorReleased?: boolean },
  ): Promise<DiaryRow | null> {
    const now = new Date();
    const hash = hashOf(change.content);
    return this.asTheOnlyOne(async () => {
      await this.refuseEqual(entry, hash, now);
      const { search, length } = searchColumns(change.content);
      const [row] = await this.database.query<DiaryRow>(
        `update agent_diary set content = $4, content_hash = $5, search = to_tsvector('english', $6),
           search_length = $7, embedding = $8::vector, embedding_model = $9, updated_at = $10,
           observed_at = $10, ttl_until = coalesce($11, ttl_until), live = superseded_by is null, operator_released = $12
         where org_id = $1 and agent_id = $2 and id = $3 returning ${DIARY_COLUMNS}`,
        [
          entry.orgId,
          entry.agentId,
          entry.id,
          change.content,
          hash,
          search,
          length,
          change.embedding && JSON.stringify(change.embedding),
          change.embedding && this.embeddings.model,
          now,
          change.ttlUntil,
          change.operatorReleased ?? false,
        ],
      );
      return row ?? null;
    });
  }

  async remove(orgId: string, agentId: string, id: string): Promise<boolean> {
    const rows = await this.database.query(
      `delete from agent_diary where org_id = $1 and agent_id = $2 and id = $3 returning id`,
      [orgId, agentId, id],
    );
    return rows.length > 0;
  }

  /** Counts a retrieval of each; joins the running transaction. */
  async markRetrieved(orgId: string, agentId: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.database.query(
      `update agent_diary set retrieval_count = retrieval_count + 1, last_retrieved_at = $4
       where org_id = $1 and agent_id = $2 and id = any($3::uuid[])`,
      [orgId, agentId, ids, new Date()],
    );
  }

  /** Deletes what expired before `before`. Answers how many. */
  async deleteExpired(before: Date): Promise<number> {
    const rows = await this.database.query(`delete from agent_diary where ttl_until < $1 returning id`, [before]);
    return rows.length;
  }

  private async insert(draft: PreparedDraft, now: Date): Promise<DiaryWrite | null> {
    const hash = hashOf(draft.content);
    await this.retireExpired(draft.orgId, draft.agentId, hash, now);
    const { search, length } = searchColumns(draft.content);
    const [row] = await this.database.query<DiaryRow>(
      `insert into agent_diary (id, org_id, agent_id, kind, content, content_hash, ttl_until, source, turn_id,
         conversation_id, metadata, observed_at, source_turn_ids, live, retrieval_count, search, search_length,
         embedding, embedding_model, created_at, updated_at, operator_released)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13::jsonb, true, 0, to_tsvector('english', $14),
         $15, $16::vector, $17, $18, $18, $19)
       on conflict (org_id, agent_id, content_hash) where live do nothing returning ${DIARY_COLUMNS}`,
      [
        randomUUID(),
        draft.orgId,
        draft.agentId,
        draft.kind,
        draft.content,
        hash,
        draft.ttlUntil,
        draft.source,
        draft.turnId,
        draft.conversationId,
        JSON.stringify(draft.metadata),
        draft.observedAt,
        JSON.stringify(draft.turnId === null ? [] : [draft.turnId]),
        search,
        length,
        draft.embedding && JSON.stringify(draft.embedding),
        draft.embedding && this.embeddings.model,
        now,
        draft.operatorReleased ?? false,
      ],
    );
    return row ? { row, created: true } : null;
  }

  private async refuseEqual(entry: EntryRef, hash: string, now: Date): Promise<void> {
    await this.retireExpired(entry.orgId, entry.agentId, hash, now);
    const [equal] = await this.database.query(
      `select 1 from agent_diary where org_id = $1 and agent_id = $2 and content_hash = $4 and live and id <> $3`,
      [entry.orgId, entry.agentId, entry.id, hash],
    );
    if (equal) throw duplicate();
  }

  /** An equal memory that is written between our look and our update is refused by the unique index. */
  private async asTheOnlyOne<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.database.transaction(work);
    } catch (error) {
      if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) throw duplicate();
      throw error;
    }
  }

  /** The unique index covers live rows only: an expired equal row must leave it before a new one may come. */
  private async retireExpired(orgId: string, agentId: string, hash: string, now: Date): Promise<void> {
    await this.database.query(
      `update agent_diary set live = false, updated_at = $4
       where org_id = $1 and agent_id = $2 and content_hash = $3 and live and ttl_until <= $4`,
      [orgId, agentId, hash, now],
    );
  }

  /** No end lives longer than any end. The equal row remembers this turn too, for erasure. */
  private async extend(draft: PreparedDraft): Promise<DiaryWrite | null> {
    const [row] = await this.database.query<DiaryRow>(
      `update agent_diary set
         kind = case when $4::timestamptz is null then 'diary_long' else kind end,
         ttl_until = case when ttl_until is null or $4::timestamptz is null then null else greatest(ttl_until, $4) end,
         source_turn_ids = case when $5::text is null or source_turn_ids ? $5 then source_turn_ids
           else source_turn_ids || to_jsonb($5::text) end,
         observed_at = greatest(observed_at, $6), updated_at = $7, operator_released = operator_released or $8
       where org_id = $1 and agent_id = $2 and content_hash = $3 and live returning ${DIARY_COLUMNS}`,
      [
        draft.orgId,
        draft.agentId,
        hashOf(draft.content),
        draft.ttlUntil,
        draft.turnId,
        draft.observedAt,
        new Date(),
        draft.operatorReleased ?? false,
      ],
    );
    return row ? { row, created: false } : null;
  }

  private async supersede(draft: DiaryDraft, by: DiaryRow, now: Date): Promise<void> {
    const others = (draft.supersedes ?? []).filter((id) => id !== by.id);
    if (others.length === 0 || (by.ttl_until !== null && by.ttl_until <= now)) return;
    // When a memory for a while ends, the lasting one that it speaks against has to be there still.
    await this.database.query(
      `update agent_diary set superseded_by = $4, live = false, updated_at = $5
       where org_id = $1 and agent_id = $2 and id = any($3::uuid[]) and live and observed_at <= $6
         and ($7 or kind = 'diary_short')`,
      [draft.orgId, draft.agentId, others, by.id, now, draft.observedAt, by.ttl_until === null],
    );
  }
}

function duplicate(): ApiError {
  return new ApiError(409, 'diary.duplicate', 'The agent already has a memory with this content.');
}
