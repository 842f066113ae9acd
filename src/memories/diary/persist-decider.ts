import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { ReflectionInput, ReflectionWorker, WorkerResult } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { EventBus } from '../../platform/events/event-bus.js';
import './diary.events.js';
import { daysAfter, repeatsALine, ttlDaysOf, type DiaryView } from './diary.models.js';
import { DiaryReader } from './diary.reader.js';
import { DocRecommendations } from './doc-recommendations.js';
import {
  persistDeciderAnswer,
  persistDeciderFormat,
  supersededOf,
  type PersistDeciderAnswer,
  type PersistKind,
} from './persist-decider.answer.js';
import { PERSIST_DECIDER_RULES, persistDeciderPrompt } from './persist-decider.prompt.js';
import { ScreenedDiary, type ScreenedDraft } from './screened-diary.js';

/**
 * Known memories that the model sees: the newest, which show what was just learned, and those that concern the
 * message, so that a fact of long ago can still be superseded.
 */
const KNOWN = { vector: 15, lexical: 15, recency: 30, total: 50 };

interface Decision {
  kind: PersistKind;
  persisted: boolean;
  id: string | null;
  ttlUntil: Date | null;
}

/** Decides after a turn what of it the agent keeps (mission, "PersistDecider"). */
@Injectable()
export class PersistDecider implements ReflectionWorker {
  readonly name = 'persist_decider';

  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly reader: DiaryReader,
    private readonly diary: ScreenedDiary,
    private readonly recommendations: DocRecommendations,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  skipReason(input: ReflectionInput): string | null {
    const { turn } = input.turn;
    if (!this.settings.learning.reflect.persist_decider) return 'disabled';
    if (turn.review_outcome === 'self_iterate') return 'non_terminal';
    if ([...turn.plan_tool_sequence, ...turn.tool_sequence].includes('reflect_and_persist')) return 'self_persisted';
    return input.role.chain.length === 0 ? 'no_model' : null;
  }

  async run(input: ReflectionInput): Promise<WorkerResult> {
    const { orgId, agent, turn, salientText, traceId, spanId } = input.turn;
    const known = await this.reader.promptPool({
      orgId,
      agentId: agent.id,
      query: salientText,
      limits: KNOWN,
      now: new Date(),
      signal: input.signal,
    });
    const answer = await this.auxiliary.ask({
      orgId,
      agent,
      chain: input.role.chain,
      turnId: turn.turn_id,
      traceId,
      spanId,
      worker: this.name,
      system: PERSIST_DECIDER_RULES,
      user: persistDeciderPrompt(input, known),
      schema: persistDeciderAnswer,
      format: persistDeciderFormat,
      maxTokens: this.settings.learning.reflect.budget_tokens,
      signal: input.signal,
    });
    if (answer.kind === 'unusable') return { outcome: 'failed', reason: 'unusable_answer', error: answer.reason };
    return answer.kind === 'noop' ? this.noop(input, null) : this.resultOf(input, answer.value, known);
  }

  private async resultOf(
    input: ReflectionInput,
    answer: PersistDeciderAnswer,
    known: readonly DiaryView[],
  ): Promise<WorkerResult> {
    const kind = answer.kind ?? 'NOOP';
    const content = answer.content ?? '';
    if (kind === 'NOOP' || content.trim() === '') return this.noop(input, null);
    if (kind === 'DOC') return this.recommend(input, answer, content);
    if (repeatsALine(content, input.shown?.lines ?? [])) return this.noop(input, 'already_shown');
    return this.remember(input, { kind, answer, content, supersedes: supersededOf(answer, known) });
  }

  private recommend(input: ReflectionInput, answer: PersistDeciderAnswer, content: string): WorkerResult {
    const { orgId, agent, turn } = input.turn;
    const screened = this.recommendations.screen({
      orgId,
      agentId: agent.id,
      turnId: turn.turn_id,
      content,
      targetHint: answer.target_hint?.trim() || null,
      rationale: answer.rationale?.trim() || null,
    });
    return {
      outcome: 'done',
      ...(screened.flag ? { reason: 'quarantined' } : {}),
      apply: async () => {
        await this.recommendations.propose(screened);
        this.announce(input, { kind: 'DOC', persisted: false, id: null, ttlUntil: null });
      },
    };
  }

  private async remember(
    input: ReflectionInput,
    memory: { kind: 'LONG' | 'SHORT'; answer: PersistDeciderAnswer; content: string; supersedes: string[] },
  ): Promise<WorkerResult> {
    const { orgId, agent, turn } = input.turn;
    const endedAt = new Date(turn.ended_at);
    const ttlUntil = memory.kind === 'SHORT' ? daysAfter(endedAt, ttlDaysOf(memory.answer.ttl_days)) : null;
    const draft: ScreenedDraft = await this.diary.prepare({
      orgId,
      agentId: agent.id,
      kind: memory.kind === 'SHORT' ? 'diary_short' : 'diary_long',
      content: memory.content,
      ttlUntil,
      source: 'persist_decider',
      turnId: turn.turn_id,
      conversationId: turn.conversation_id,
      metadata: { review_outcome: turn.review_outcome },
      // A clock that runs ahead must not make of its facts ones that nothing supersedes.
      observedAt: new Date(Math.min(endedAt.getTime(), Date.now())),
      supersedes: memory.supersedes,
    });
    return {
      outcome: 'done',
      ...(draft.flag ? { reason: 'quarantined' } : {}),
      apply: async () => {
        const written = await this.diary.write(draft);
        const row = written.status === 'quarantined' ? null : written.row;
        this.announce(input, {
          kind: memory.kind,
          persisted: row !== null,
          id: row?.id ?? null,
          ttlUntil: row?.ttl_until ?? null,
        });
      },
    };
  }

  private noop(input: ReflectionInput, reason: string | null): WorkerResult {
    return {
      outcome: 'noop',
      ...(reason === null ? {} : { reason }),
      apply: () => {
        this.announce(input, { kind: 'NOOP', persisted: false, id: null, ttlUntil: null });
        return Promise.resolve();
      },
    };
  }

  private announce(input: ReflectionInput, decision: Decision): void {
    const { orgId, agent, turn, traceId, spanId } = input.turn;
    this.events.publish('persist_decider.completed', {
      org_id: orgId,
      agent_id: agent.id,
      agent_handle: agent.handle,
      role: agent.role,
      turn_id: turn.turn_id,
      trace_id: traceId,
      span_id: spanId,
      payload: {
        persisted: decision.persisted,
        doc_id: decision.id,
        scope: 'agent',
        classification: decision.kind,
        ttl_until: decision.ttlUntil?.toISOString() ?? null,
        review_outcome: turn.review_outcome,
      },
    });
  }
}
