import { Injectable, Logger } from '@nestjs/common';
import { z } from 'zod';
import { fence, FENCE_RULE, numbered } from '../../core/auxiliary/fence.js';
import { LiveTurnModel } from '../../core/organization/live-turn-model.js';
import type { AgentRef, RoleContext, TraceContext } from '../../core/turn/extension-points.js';
import { describe, mergeBySender } from '../../core/turn/interactions.js';
import type { Interaction } from '../../core/turn/turn.models.js';
import { clipText } from '../../platform/text/storable-text.js';
import type { DiaryView } from './diary.models.js';

/** Memories that one digest may hold. */
export const MAX_SELECTED = 8;
/** UTF-16 code units of the task, of a hint, and output tokens of an answer. */
const TASK_LIMIT = 1_200;
const HINT_LIMIT = 1_200;
const ANSWER_TOKENS = 2_000;
/** Senders that are named, those who came last. */
const SENDER_LIMIT = 20;

const RULES = `You choose which of an AI agent's numbered memories it should have before it as it works on a task.

Choose a memory if one of these holds:
1. It describes a state of affairs that bears on the task's subject: a freeze, an outage, a hand-over, an absence. That it is about somebody else than the sender is no reason to leave it out.
2. It is a general way of doing this kind of work, whoever asks.
3. It is about one person, and that person is the sender, is addressed, or is named in the task. What is known of anybody else must stay out.

Answer with a JSON array of the chosen numbers, the most useful first, at most ${MAX_SELECTED}: [3, 1]. If none is of use, answer [].

${FENCE_RULE}`;

const answerSchema = z.array(z.unknown());

export interface FilterRequest extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  interactions: readonly Interaction[];
  /** What was said when the turn started; `''` where that is not known. */
  salientText: string;
  /** What has been found out since; stands first. */
  hint: string | null;
  candidates: readonly DiaryView[];
  signal?: AbortSignal;
}

export type FilterResult =
  | { status: 'selected'; memories: DiaryView[] }
  /** The model says that none is of use. */
  | { status: 'none' }
  | { status: 'model_unavailable' | 'filter_failed' };

/**
 * The relevance filter between an agent's memories and its prompt. There is no way round it: what it cannot judge is
 * not shown, since an unfiltered list would tell one person what is known of another.
 */
@Injectable()
export class MemoryFilter {
  private readonly log = new Logger(MemoryFilter.name);

  constructor(private readonly model: LiveTurnModel) {}

  async select(request: FilterRequest): Promise<FilterResult> {
    if (request.role.chain.length === 0) return { status: 'model_unavailable' };
    try {
      const answer = await this.model.ask({
        orgId: request.orgId,
        agent: request.agent,
        chain: request.role.chain,
        turnId: request.turnId,
        traceId: request.traceId,
        spanId: request.spanId,
        worker: 'memory_filter',
        system: RULES,
        user: promptOf(request),
        schema: answerSchema,
        shape: 'array',
        maxTokens: ANSWER_TOKENS,
        signal: request.signal,
      });
      if (answer.kind !== 'answer') return { status: 'filter_failed' };
      return this.chosen(request, answer.value);
    } catch (error) {
      this.log.warn(`memories of turn ${request.turnId} of ${request.agent.handle} stay hidden: ${String(error)}`);
      return { status: 'model_unavailable' };
    }
  }

  private chosen(request: FilterRequest, answer: readonly unknown[]): FilterResult {
    if (answer.length === 0) return { status: 'none' };
    const { indexes, dropped } = readSelection(answer, request.candidates.length);
    if (dropped > 0) {
      this.log.warn(`memory_filter of turn ${request.turnId} named ${dropped} memories that do not exist`);
    }
    if (indexes.length === 0) return { status: 'none' };
    return { status: 'selected', memories: indexes.map((index) => request.candidates[index]!) };
  }
}

/** Distinct positions of the numbers that stand for a candidate, in the order given; the others are counted. */
export function readSelection(answer: readonly unknown[], candidates: number): { indexes: number[]; dropped: number } {
  const numbers = answer.map((item) => (typeof item === 'string' && item.trim() !== '' ? Number(item) : item));
  const known = numbers.filter(
    (item): item is number => Number.isInteger(item) && (item as number) >= 1 && (item as number) <= candidates,
  );
  const indexes = [...new Set(known)].slice(0, MAX_SELECTED).map((number) => number - 1);
  return { indexes, dropped: numbers.length - known.length };
}

function promptOf(request: FilterRequest): string {
  const senders = mergeBySender(request.interactions)
    .slice(-SENDER_LIMIT)
    .map((sender) => `Current sender: ${describe(sender)}`);
  return [
    ...(request.hint === null
      ? []
      : [`What the agent has found out since:\n${fence('hint', clipText(request.hint, HINT_LIMIT))}`]),
    // Names are as free as any message.
    ...(senders.length === 0 ? [] : [fence('sender', senders.join('\n'))]),
    ...(request.salientText === '' ? [] : [`Task:\n${fence('task', clipText(request.salientText, TASK_LIMIT))}`]),
    `Memories:\n${fence('memories', numbered(request.candidates.map((memory) => memory.content)))}`,
  ].join('\n\n');
}
