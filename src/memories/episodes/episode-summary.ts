import { Injectable, Logger } from '@nestjs/common';
import { fence, FENCE_RULE } from '../../core/auxiliary/fence.js';
import { LiveTurnModel } from '../../core/organization/live-turn-model.js';
import type { AgentRef, RoleContext, TraceContext } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { unlessFlagged } from '../../core/screening/blocked-text.js';
import { clipText } from '../../platform/text/storable-text.js';
import type { EpisodeView } from './episode.view.js';

/** UTF-16 code units of the question and of each field of an episode that the model sees. */
const QUESTION_LIMIT = 1_200;
const FIELD_LIMIT = 600;

const RULES = `You summarise what one AI agent did in earlier turns, for the same agent as it plans a new task.

Answer in plain text: at most three short bullets that begin with "- ", each about what bears on the new task: what was done, with which tools, how it ended, what to repeat or avoid. An entry of kind "compacted" stands for many turns: say how often it was seen. State facts only that stand in the entries. If none of them bears on the task, answer NOOP.

${FENCE_RULE}`;

export interface SummaryRequest extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  question: string;
  episodes: readonly EpisodeView[];
  signal?: AbortSignal;
}

/** Shortens recalled episodes by the auxiliary model, so that the planner's context stays small. */
@Injectable()
export class EpisodeSummary {
  private readonly log = new Logger(EpisodeSummary.name);

  constructor(
    private readonly model: LiveTurnModel,
    private readonly settings: Settings,
  ) {}

  /** Null where the raw episodes have to do: no model, none that answered, or nothing to say. */
  async of(request: SummaryRequest): Promise<string | null> {
    const { reflect } = this.settings.learning;
    if (!reflect.summarize_episodes || request.role.chain.length === 0 || request.episodes.length === 0) return null;
    try {
      const answer = await this.model.ask({
        orgId: request.orgId,
        agent: request.agent,
        chain: request.role.chain,
        turnId: request.turnId,
        traceId: request.traceId,
        spanId: request.spanId,
        worker: 'summarize_episodes',
        system: RULES,
        user: [
          `New task:\n${fence('task', clipText(request.question, QUESTION_LIMIT))}`,
          `Earlier turns, best match first:\n${fence('episodes', JSON.stringify(request.episodes.map(factsOf), null, 1))}`,
        ].join('\n\n'),
        maxTokens: reflect.summarize_max_tokens,
        signal: request.signal,
      });
      return answer.kind === 'answer' ? answer.value : null;
    } catch (error) {
      this.log.warn(`episodes of turn ${request.turnId} of ${request.agent.handle} stay raw: ${String(error)}`);
      return null;
    }
  }
}

function factsOf(episode: EpisodeView): Record<string, unknown> {
  const shared = { kind: episode.kind, tool_sequence: episode.tool_sequence, ended_at: episode.ended_at };
  return episode.kind === 'compacted'
    ? {
        ...shared,
        count: episode.count,
        pattern: clipText(unlessFlagged(episode.common_task_pattern ?? ''), FIELD_LIMIT),
        outcome: episode.common_outcome && unlessFlagged(episode.common_outcome),
        success_rate: episode.success_rate,
        notable_patterns: clipText(unlessFlagged(episode.notable_patterns ?? ''), FIELD_LIMIT),
      }
    : {
        ...shared,
        task: clipText(unlessFlagged(episode.task_summary), FIELD_LIMIT),
        plan: clipText(unlessFlagged(episode.plan_summary), FIELD_LIMIT),
        outcome: episode.review_outcome,
      };
}
