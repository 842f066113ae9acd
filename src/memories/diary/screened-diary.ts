import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { EmbedMissingJob } from '../../platform/embeddings/embed-missing.job.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { AgentDiary, type DiaryDraft, type DiaryWrite, type PreparedDraft } from './agent-diary.js';
import type { DiaryRow } from './diary.models.js';

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

interface EntryRef {
  orgId: string;
  agentId: string;
  id: string;
  turnId: string | null;
}

type HeldPayload =
  | { operation: 'write'; draft: Omit<DiaryDraft, 'ttlUntil'> & { ttlUntil: string | null } }
  | { operation: 'change'; id: string; content: string; ttlUntil: string | null };

/** The write boundary of the diary: every content is screened, and what is flagged waits in quarantine. */
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
    const verdict = this.screening.check(draft.content);
    if (verdict.flagged) return { ...draft, embedding: null, flag: verdict.reason };
    return { ...(await this.diary.prepare(draft)), flag: null };
  }

  /** Joins the running transaction. */
  async write(draft: ScreenedDraft): Promise<ScreenedWrite> {
    const { flag, embedding, ...held } = draft;
    if (flag === null) return { status: 'written', ...(await this.diary.write({ ...held, embedding })) };
    const payload = { operation: 'write', draft: { ...held, ttlUntil: held.ttlUntil?.toISOString() ?? null } };
    return this.hold(held, { reason: flag, content: held.content, payload: payload as HeldPayload });
  }

  /** Null where there is no such memory. */
  async changeContent(
    entry: EntryRef,
    content: string,
    ttlUntil: Date | null,
  ): Promise<{ status: 'changed'; row: DiaryRow } | Held | null> {
    const verdict = this.screening.check(content);
    if (verdict.flagged) {
      const payload: HeldPayload = {
        operation: 'change',
        id: entry.id,
        content,
        ttlUntil: ttlUntil?.toISOString() ?? null,
      };
      return this.hold(entry, { reason: verdict.reason, content, payload });
    }
    const row = await this.diary.change(entry, { content, ttlUntil, embedding: await this.embeddings.embed(content) });
    return row && { status: 'changed', row };
  }

  async apply(write: HeldWrite): Promise<void> {
    const payload = write.payload as HeldPayload;
    const ttlUntil = (text: string | null): Date | null => (text === null ? null : new Date(text));
    if (payload.operation === 'write') {
      await this.diary.write({ ...payload.draft, ttlUntil: ttlUntil(payload.draft.ttlUntil), embedding: null });
    } else {
      await this.diary.change(
        { orgId: write.orgId, agentId: write.agentId, id: payload.id },
        { content: payload.content, ttlUntil: ttlUntil(payload.ttlUntil), embedding: null },
      );
    }
    await this.embedMissing.request();
  }

  private async hold(
    write: { orgId: string; agentId: string; turnId: string | null },
    flagged: { reason: string; content: string; payload: HeldPayload },
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
