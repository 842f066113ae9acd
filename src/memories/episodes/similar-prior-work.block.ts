import { Injectable } from '@nestjs/common';
import type { BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { renderEpisodes } from './episode-lines.js';
import { EpisodeRecall } from './episode-recall.js';
import { EpisodeSummary } from './episode-summary.js';

const LIMIT = 3;

/** Conditional, since only the search that a thin trigger skips could tell whether there is anything. */
const THIN_TRIGGER_HINT =
  'The message that started this turn says too little to search by. If the task turns out to resemble something that you ' +
  'have done before, call query_episodes once you know what it is about.';

const FOOTER = 'Call query_episodes to look further.';

/** `## Similar prior work`: the agent's own done turns that resemble the trigger. */
@Injectable()
export class SimilarPriorWorkBlock implements PlanBlock {
  readonly key = 'similar_prior_work';
  readonly heading = '## Similar prior work';

  constructor(
    private readonly recall: EpisodeRecall,
    private readonly summary: EpisodeSummary,
  ) {}

  async resolve(context: PlanContext, signal: AbortSignal): Promise<BlockResult> {
    if (context.requiresRecon) return { text: THIN_TRIGGER_HINT, selection_count: 0, reason: 'hint_thin_trigger' };
    if (context.salientText.trim() === '') return { text: '', selection_count: 0, reason: 'nothing_to_match' };
    const episodes = await this.recall.find({
      orgId: context.orgId,
      agentId: context.agent.id,
      query: context.salientText,
      limit: LIMIT,
      outcome: 'done',
      exceptTurnId: context.turnId,
      signal,
    });
    if (episodes.length === 0) return { text: '', selection_count: 0, reason: 'nothing_stored' };
    const summary = await this.summary.of({ ...context, question: context.salientText, episodes, signal });
    return {
      text: `${renderEpisodes(episodes, summary)}\n\n${FOOTER}`,
      selection_count: episodes.length,
      reason: 'selected',
    };
  }
}
