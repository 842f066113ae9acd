import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { contentHash } from './content-hash.js';
import { isIdentifiable } from './interactions.js';
import type { FinishedTurn, ReviewOutcome } from './turn.models.js';

export type ReflectionStatus = 'pending' | 'running' | 'retrying' | 'done' | 'skipped' | 'dead';

export interface TurnRecord {
  orgId: string;
  turnId: string;
  agentId: string;
  episodeId: string;
  role: string;
  workKey: string;
  contentHash: string;
  conversationId: string | null;
  /** Null once the body has been swept. */
  body: FinishedTurn | null;
  reviewOutcome: ReviewOutcome;
  startedAt: Date;
  endedAt: Date;
  receivedAt: Date;
  traceId: string | null;
  spanId: string | null;
  reflection: { status: ReflectionStatus; reason: string | null };
}

interface TurnRow {
  org_id: string;
  turn_id: string;
  agent_id: string;
  episode_id: string;
  role: string;
  work_key: string;
  content_hash: string;
  conversation_id: string | null;
  body: FinishedTurn | null;
  review_outcome: ReviewOutcome;
  started_at: Date;
  ended_at: Date;
  received_at: Date;
  trace_id: string | null;
  span_id: string | null;
  reflection_status: ReflectionStatus;
  reflection_reason: string | null;
}

/** The posted turns: the claim of a turn_id, the claim of a done work key, and how far reflection has come. */
@Injectable()
export class TurnStore {
  constructor(private readonly database: Database) {}

  /** `lock` holds the row until the running transaction ends. */
  async find(orgId: string, turnId: string, options: { lock?: boolean } = {}): Promise<TurnRecord | null> {
    const [row] = await this.database.query<TurnRow>(
      `select * from turns where org_id = $1 and turn_id = $2${options.lock ? ' for update' : ''}`,
      [orgId, turnId],
    );
    return row ? recordOf(row) : null;
  }

  /**
   * The done turn of the agent that has had the same trigger events. Joins the running transaction and holds the work
   * key until that ends: else two that find nothing could both become the done one.
   */
  async findDone(orgId: string, agentId: string, workKey: string): Promise<TurnRecord | null> {
    if (workKey === '') return null;
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
      `turns ${orgId} ${agentId} ${workKey}`,
    ]);
    const [row] = await this.database.query<TurnRow>(
      `select * from turns where org_id = $1 and agent_id = $2 and work_key = $3 and review_outcome = 'done'`,
      [orgId, agentId, workKey],
    );
    return row ? recordOf(row) : null;
  }

  /** False where the turn_id, or the work key of a done turn, is taken; then nothing is written. */
  async insert(turn: TurnRecord & { body: FinishedTurn }): Promise<boolean> {
    const rows = await this.database.query(
      `insert into turns (org_id, turn_id, agent_id, episode_id, role, work_key, content_hash, conversation_id, body,
         review_outcome, started_at, ended_at, received_at, trace_id, span_id, reflection_status, reflection_reason,
         reflection_ended_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12, $13, $14, $15, $16, $17, $18)
       on conflict do nothing returning turn_id`,
      [...parametersOf(turn), turn.reflection.status === 'skipped' ? turn.receivedAt : null],
    );
    if (rows.length === 0) return false;
    await this.writeSubjects(turn);
    return true;
  }

  /** Puts a later body in the place of an unfinished one. */
  async replace(turn: TurnRecord & { body: FinishedTurn }): Promise<void> {
    await this.database.query(
      `update turns set agent_id = $3, episode_id = $4, role = $5, work_key = $6, content_hash = $7,
         conversation_id = $8, body = $9::jsonb, review_outcome = $10, started_at = $11, ended_at = $12,
         received_at = $13, trace_id = $14, span_id = $15, reflection_status = $16, reflection_reason = $17,
         reflection_ended_at = $18
       where org_id = $1 and turn_id = $2`,
      [...parametersOf(turn), turn.reflection.status === 'skipped' ? turn.receivedAt : null],
    );
    // Who spoke in the body before stays: what was learned from it may stay too.
    await this.writeSubjects(turn);
  }

  /**
   * Nothing happens, and it answers false, where the turn has meanwhile been superseded by another body, or where its
   * reflection has ended: only `pending` opens that again.
   */
  async setReflection(
    turn: Pick<TurnRecord, 'orgId' | 'turnId' | 'contentHash'>,
    reflection: { status: ReflectionStatus; reason: string | null },
  ): Promise<boolean> {
    const ended = reflection.status === 'done' || reflection.status === 'skipped' || reflection.status === 'dead';
    const rows = await this.database.query(
      `update turns set reflection_status = $4, reflection_reason = $5, reflection_ended_at = $6
       where org_id = $1 and turn_id = $2 and content_hash = $3
         and ($4 = 'pending' or reflection_status not in ('done', 'skipped', 'dead')) returning turn_id`,
      [turn.orgId, turn.turnId, turn.contentHash, reflection.status, reflection.reason, ended ? new Date() : null],
    );
    return rows.length > 0;
  }

  /**
   * Forgets the bodies of turns whose reflection ended before a day, those of dead ones, which may be retried, before
   * another; keys and hash stay. Answers how many.
   */
  async sweepBodies(before: { ended: Date; dead: Date }): Promise<number> {
    const rows = await this.database.query(
      `update turns set body = null where body is not null
         and reflection_ended_at < case when reflection_status = 'dead' then $2::timestamptz else $1 end
         and reflection_ended_at < greatest($1::timestamptz, $2) returning turn_id`,
      [before.ended, before.dead],
    );
    return rows.length;
  }

  /** The content hashes of those of the turns that are stored. */
  async hashes(orgId: string, turnIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.database.query<{ turn_id: string; content_hash: string }>(
      `select turn_id, content_hash from turns where org_id = $1 and turn_id = any($2::uuid[])`,
      [orgId, turnIds],
    );
    return new Map(rows.map((row) => [row.turn_id, row.content_hash]));
  }

  private async writeSubjects(turn: TurnRecord & { body: FinishedTurn }): Promise<void> {
    const subjects = turn.body.interactions.filter(isIdentifiable).map((sender) => {
      const subject = {
        platform: sender.platform ?? '',
        external_id: sender.external_id ?? '',
        handle: sender.handle ?? '',
        display_name: sender.display_name ?? '',
      };
      return { ...subject, subject_key: contentHash(subject) };
    });
    if (subjects.length === 0) return;
    await this.database.query(
      `insert into turn_subjects (org_id, turn_id, platform, external_id, handle, display_name, subject_key)
       select $1, $2, platform, external_id, handle, display_name, subject_key from jsonb_to_recordset($3::jsonb)
         as subject(platform text, external_id text, handle text, display_name text, subject_key text)
       on conflict do nothing`,
      [turn.orgId, turn.turnId, JSON.stringify(subjects)],
    );
  }
}

function parametersOf(turn: TurnRecord & { body: FinishedTurn }): unknown[] {
  return [
    turn.orgId,
    turn.turnId,
    turn.agentId,
    turn.episodeId,
    turn.role,
    turn.workKey,
    turn.contentHash,
    turn.conversationId,
    JSON.stringify(turn.body),
    turn.reviewOutcome,
    turn.startedAt,
    turn.endedAt,
    turn.receivedAt,
    turn.traceId,
    turn.spanId,
    turn.reflection.status,
    turn.reflection.reason,
  ];
}

function recordOf(row: TurnRow): TurnRecord {
  return {
    orgId: row.org_id,
    turnId: row.turn_id,
    agentId: row.agent_id,
    episodeId: row.episode_id,
    role: row.role,
    workKey: row.work_key,
    contentHash: row.content_hash,
    conversationId: row.conversation_id,
    body: row.body,
    reviewOutcome: row.review_outcome,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    receivedAt: row.received_at,
    traceId: row.trace_id,
    spanId: row.span_id,
    reflection: { status: row.reflection_status, reason: row.reflection_reason },
  };
}
