import { createHash } from 'node:crypto';
import { oneLine } from '../../core/auxiliary/fence.js';

export type DiaryKind = 'diary_long' | 'diary_short';
export type DiarySource = 'persist_decider' | 'reflect_and_persist' | 'operator' | 'import';

/** Days that a situational memory lives where nobody says how long. */
export const DEFAULT_TTL_DAYS = 30;
/** The longest that a model may ask for, in days. */
export const MAX_TTL_DAYS = 180;
/** UTF-16 code units of one memory in a prompt or a block; what is stored is never cut. */
export const LINE_LIMIT = 400;

const DAY = 24 * 60 * 60 * 1000;

/** One memory of an agent. */
export interface EntryRef {
  orgId: string;
  agentId: string;
  id: string;
}

export interface DiaryRow {
  id: string;
  org_id: string;
  agent_id: string;
  kind: DiaryKind;
  content: string;
  ttl_until: Date | null;
  source: DiarySource;
  turn_id: string | null;
  conversation_id: string | null;
  metadata: Record<string, unknown>;
  superseded_by: string | null;
  live: boolean;
  operator_released: boolean;
  retrieval_count: number;
  last_retrieved_at: Date | null;
  embedded: boolean;
  created_at: Date;
}

/** A memory as every route shows it. */
export interface DiaryView {
  id: string;
  kind: DiaryKind;
  content: string;
  metadata: Record<string, unknown>;
  source: DiarySource;
  turn_id: string | null;
  conversation_id: string | null;
  ttl_until: string | null;
  expired: boolean;
  superseded_by: string | null;
  embedded: boolean;
  created_at: string;
  retrieval_count: number;
  last_retrieved_at: string | null;
}

export function viewOf(row: DiaryRow, now: Date): DiaryView {
  return {
    id: row.id,
    kind: row.kind,
    content: row.content,
    metadata: row.metadata,
    source: row.source,
    turn_id: row.turn_id,
    conversation_id: row.conversation_id,
    ttl_until: row.ttl_until?.toISOString() ?? null,
    expired: row.ttl_until !== null && row.ttl_until <= now,
    superseded_by: row.superseded_by,
    embedded: row.embedded,
    created_at: row.created_at.toISOString(),
    retrieval_count: row.retrieval_count,
    last_retrieved_at: row.last_retrieved_at?.toISOString() ?? null,
  };
}

/** Two memories are the same where every character is. */
export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

export function daysAfter(start: Date, days: number): Date {
  return new Date(start.getTime() + days * DAY);
}

/** Whole days from a model's answer: what is no number or below 1 becomes the default, what is above the bound the bound. */
export function ttlDaysOf(answer: unknown): number {
  const days = typeof answer === 'string' && answer.trim() !== '' ? Number(answer) : answer;
  if (typeof days !== 'number' || !Number.isFinite(days) || days < 1) return DEFAULT_TTL_DAYS;
  return Math.min(Math.floor(days), MAX_TTL_DAYS);
}

/** True where `content` says again what one of `lines` says, as it was shown: folded in case and space, perhaps clipped. */
export function repeatsALine(content: string, lines: readonly { content: string }[]): boolean {
  const said = folded(content);
  return lines.some((line) => said === folded(line.content) || said === folded(oneLine(line.content, LINE_LIMIT)));
}

/** Without the bullet and the end that a digest puts before a memory. */
function folded(text: string): string {
  const bare = text.replace(/^\s*(?:[-*•]\s+)?(?:\(until [^)]*\)\s*)?/u, '');
  return bare.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
