import { Injectable } from '@nestjs/common';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { daysAfter, DEFAULT_TTL_DAYS, viewOf, type DiaryView, type EntryRef } from './diary.models.js';
import { DiaryReader } from './diary.reader.js';
import type { DiaryEntryChange, DiaryEntryDraft } from './diary.dto.js';
import { AgentDiary } from './agent-diary.js';
import { ScreenedDiary, type ScreenedWrite } from './screened-diary.js';

export type EditResult =
  | { status: 'created' | 'existing' | 'changed'; entry: DiaryView }
  | { status: 'quarantined'; quarantineId: string; reason: string };

/** What an operator may do to an agent's memories. */
@Injectable()
export class DiaryEditor {
  constructor(
    private readonly diary: AgentDiary,
    private readonly screened: ScreenedDiary,
    private readonly reader: DiaryReader,
  ) {}

  async create(agent: { orgId: string; agentId: string }, draft: DiaryEntryDraft): Promise<EditResult> {
    const now = new Date();
    const ttlUntil = this.endOf(draft, now);
    const prepared = await this.screened.prepare({
      ...agent,
      kind: draft.kind,
      content: draft.content,
      ttlUntil,
      source: 'operator',
      turnId: null,
      conversationId: draft.conversation_id,
      metadata: {},
      observedAt: now,
    });
    return resultOf(await this.screened.write(prepared));
  }

  async change(entry: EntryRef, change: DiaryEntryChange): Promise<EditResult> {
    const current = await this.reader.get(entry.orgId, entry.agentId, entry.id);
    if (!current) throw notFound();
    const ttlUntil = change.ttl_until === undefined ? null : new Date(change.ttl_until);
    if (ttlUntil && current.kind === 'diary_long') throw ttlProblem('a diary_long does not expire');
    if (ttlUntil && ttlUntil <= new Date()) throw ttlProblem('ttl_until must lie in the future');
    if (change.content !== undefined && change.content !== current.content) {
      const changed = await this.screened.changeContent(
        { ...entry, turnId: current.turn_id },
        change.content,
        ttlUntil,
      );
      if (!changed) throw notFound();
      if (changed.status === 'quarantined') return changed;
      return { status: 'changed', entry: viewOf(changed.row, new Date()) };
    }
    const row = ttlUntil ? await this.diary.setEnd(entry, ttlUntil) : null;
    return { status: 'changed', entry: row ? viewOf(row, new Date()) : current };
  }

  async remove(entry: EntryRef): Promise<void> {
    if (!(await this.diary.remove(entry.orgId, entry.agentId, entry.id))) throw notFound();
  }

  private endOf(draft: DiaryEntryDraft, now: Date): Date | null {
    if (draft.kind === 'diary_long') {
      if (draft.ttl_until !== null)
        throw ttlProblem('a diary_long does not expire: leave ttl_until out, or write a diary_short');
      return null;
    }
    if (draft.ttl_until === null) return daysAfter(now, DEFAULT_TTL_DAYS);
    const end = new Date(draft.ttl_until);
    if (end <= now) throw ttlProblem('ttl_until must lie in the future');
    return end;
  }
}

function resultOf(written: ScreenedWrite): EditResult {
  if (written.status === 'quarantined') return written;
  return { status: written.created ? 'created' : 'existing', entry: viewOf(written.row, new Date()) };
}

function ttlProblem(message: string): ApiError {
  return invalidRequest([{ path: 'ttl_until', message }]);
}

function notFound(): ApiError {
  return new ApiError(404, 'diary.not_found', 'The agent has no such memory.');
}
