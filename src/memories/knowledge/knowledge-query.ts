import { Injectable, Logger } from '@nestjs/common';
import { fence, FENCE_RULE } from '../../core/auxiliary/fence.js';
import { LiveTurnModel } from '../../core/organization/live-turn-model.js';
import type { AgentRef, RoleContext, TraceContext } from '../../core/turn/extension-points.js';
import { clipText } from '../../platform/text/storable-text.js';
import { hasWord } from './search-terms.js';

/** UTF-16 code units of the task that the model sees, and output tokens of its answer. */
const TASK_LIMIT = 1_200;
const ANSWER_TOKENS = 1_000;

const RULES = `You write the search query with which an AI agent looks for pages of its team's knowledge base before it works on a task.

Answer with one line of plain text: two to eight keywords that a page about the subject would hold, the most telling first. Every keyword must be in a page for it to be found, so leave out what is incidental. Copy identifiers, product names and error codes as they stand. No quotation marks, no operators, no sentence, no explanation. If the task has no subject that a page could be about, answer NOOP.

${FENCE_RULE}`;

export interface KnowledgeQueryRequest extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  /** What the turn is about. */
  task: string;
  signal?: AbortSignal;
}

/** `filter_failed`: the answer was a NOOP, empty, or without a word. */
export type KnowledgeQueryResult =
  { status: 'query'; query: string } | { status: 'model_unavailable' | 'filter_failed' };

/** Turns a task into keywords by the auxiliary model. Scope is none of its business. */
@Injectable()
export class KnowledgeQueryWriter {
  private readonly log = new Logger(KnowledgeQueryWriter.name);

  constructor(private readonly model: LiveTurnModel) {}

  async write(request: KnowledgeQueryRequest): Promise<KnowledgeQueryResult> {
    if (request.role.chain.length === 0) return { status: 'model_unavailable' };
    try {
      const answer = await this.model.ask({
        orgId: request.orgId,
        agent: request.agent,
        chain: request.role.chain,
        turnId: request.turnId,
        traceId: request.traceId,
        spanId: request.spanId,
        worker: 'relevant_knowledge_query',
        system: RULES,
        user: `Task:\n${fence('task', clipText(request.task, TASK_LIMIT))}\n\nKnowledge-base search query:`,
        maxTokens: ANSWER_TOKENS,
        signal: request.signal,
      });
      const query = answer.kind === 'answer' ? readQuery(answer.value) : '';
      return hasWord(query) ? { status: 'query', query } : { status: 'filter_failed' };
    } catch (error) {
      this.log.warn(`no knowledge query for turn ${request.turnId} of ${request.agent.handle}: ${String(error)}`);
      return { status: 'model_unavailable' };
    }
  }
}

/** The first line that says something, without the quotes around it. */
export function readQuery(answer: string): string {
  const line = answer.split(/[\n\v\f\r\u0085\u2028\u2029]/u).find((text) => text.trim() !== '') ?? '';
  return line
    .trim()
    .replace(/^["'`“”‘’«»]+|["'`“”‘’«»]+$/gu, '')
    .trim();
}
