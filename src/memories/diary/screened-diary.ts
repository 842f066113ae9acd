import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { EmbedMissingJob } from '../../platform/embeddings/embed-missing.job.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { AgentDiary, type DiaryDraft, type DiaryWrite, type PreparedDraft } from './agent-diary.js';
import type { DiaryRow, EntryRef } from './diary.models.js';

export interface ScreenedDraft extends PreparedDraft {
  /** Why the content may not reach a prompt before an operator has seen it; null where it may. */
  flag: string | null;
}

export type ScreenedWrite = ({ status: 'written' } & DiaryWrite) | Held;

export interface Held {
  status: 'quarantined';
  quarantineId: string;
  reason: string;
}

type HeldPayload =
  | {
      operation: 'write';
      draft: Omit<DiaryDraft, 'ttlUntil' | 'observedAt'> & { ttlUntil: string | null; observedAt: string };
    }
  | { operation: 'change'; id: string; content: string; ttlUntil: string | null };

/** The write boundary of the diary: content and note are screened, and what is flagged waits in quarantine. */
@Injectable()
export class ScreenedDiary implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'diary';

  constructor(
    private readonly diary: AgentDiary,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
    private readonly embeddings: Embeddings,
    private readonly embedMissing: EmbedMissingJob,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** Screens, and embeds outside of any transaction what is not flagged. */
  async prepare(draft: DiaryDraft): Promise<ScreenedDraft> {
    const verdict = this.screening.check(draft.content, noteOf(draft));
    if (verdict.flagged) return { ...draft, embedding: null, flag: verdict.reason };
    return { ...(await this.diary.prepare(draft)), flag: null };
  }

  /** Joins the running transaction. */
  async write(draft: ScreenedDraft): Promise<ScreenedWrite> {
    const { flag, embedding, ...held } = draft;
    if (flag === null) return { status: 'written', ...(await this.diary.write({ ...held, embedding })) };
    const { kind, content } = held;
    const note = noteOf(held);
    return this.hold(held, {
      reason: flag,
      content: note === '' ? content : `${content}\n\nNote: ${note}`,
      payload: {
        operation: 'write',
        draft: { ...held, ttlUntil: held.ttlUntil?.toISOString() ?? null, observedAt: held.observedAt.toISOString() },
      },
      sameness: { operation: 'write', kind, content, note },
    });
  }

  /** Null where there is no such memory. */
  async changeContent(
    entry: EntryRef & { turnId: string | null },
    content: string,
    ttlUntil: Date | null,
  ): Promise<{ status: 'changed'; row: DiaryRow } | Held | null> {
    const verdict = this.screening.check(content);
    if (verdict.flagged) {
      const same = { operation: 'change', id: entry.id, content } as const;
      const payload = { ...same, ttlUntil: ttlUntil?.toISOString() ?? null };
      return this.hold(entry, { reason: verdict.reason, content, payload, sameness: same });
    }
    const row = await this.diary.change(entry, { content, ttlUntil, embedding: await this.embeddings.embed(content) });
    return row && { status: 'changed', row };
  }

  /** @throws ApiError 409 `quarantine.stale` where nothing would be remembered */
  async apply(write: HeldWrite): Promise<void> {
    const row = await this.carryOut(write);
    if (!row) {
      throw stale('The memory that this text was to change is gone. Write it as a new memory, or discard this one.');
    }
    if (row.ttl_until && row.ttl_until <= new Date()) {
      throw stale('The memory would have ended by now. Give it a later end by writing it again, or discard this one.');
    }
    await this.embedMissing.request();
  }

  private async carryOut({ orgId, agentId, payload }: HeldWrite): Promise<DiaryRow | null> {
    const held = payload as HeldPayload;
    const ttlUntil = (text: string | null): Date | null => (text === null ? null : new Date(text));
    if (held.operation === 'change') {
      const change = {
        content: held.content,
        ttlUntil: ttlUntil(held.ttlUntil),
        embedding: null,
        operatorReleased: true,
      };
      return this.diary.change({ orgId, agentId, id: held.id }, change);
    }
    const { draft } = held;
    const dates = { ttlUntil: ttlUntil(draft.ttlUntil), observedAt: new Date(draft.observedAt) };
    return (await this.diary.write({ ...draft, ...dates, embedding: null, operatorReleased: true })).row;
  }

  private async hold(
    write: { orgId: string; agentId: string; turnId: string | null },
    flagged: { reason: string; content: string; payload: HeldPayload; sameness: unknown },
  ): Promise<Held> {
    const quarantineId = await this.quarantine.hold({
      orgId: write.orgId,
      agentId: write.agentId,
      turnId: write.turnId,
      kind: this.kind,
      ...flagged,
    });
    return { status: 'quarantined', quarantineId, reason: flagged.reason };
  }
}

/** What `reflect_and_persist` was told about the memory; `''` where nothing. */
function noteOf({ metadata }: Pick<DiaryDraft, 'metadata'>): string {
  return typeof metadata.note === 'string' ? metadata.note : '';
}

function stale(detail: string): ApiError {
  return new ApiError(409, 'quarantine.stale', detail);
}
