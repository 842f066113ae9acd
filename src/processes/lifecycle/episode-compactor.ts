import { Injectable, Logger } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { Agent } from '../../core/organization/agents.js';
import { Budgets } from '../../core/organization/budgets.js';
import { Screening } from '../../core/screening/screening.js';
import type { CompactedSummary } from '../../memories/episodes/compaction.models.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { computedSummary } from './compacted-summary.js';
import { episodeCompactorAnswer, episodeCompactorFormat, summaryOf } from './episode-compactor.answer.js';
import { EPISODE_COMPACTOR_RULES, episodeCompactorPrompt } from './episode-compactor.prompt.js';

/** Whose episodes are summed up, and by which providers; an empty chain asks nobody. */
export interface CompactorCall {
  agent: Agent;
  chain: readonly string[];
  signal: AbortSignal;
}

/** The day's tokens are spent: nothing was asked, and the whole waits. */
export class BudgetExhausted extends Error {}

/** Says in a few words what the turns of a cluster have in common, by one call of the auxiliary model. */
@Injectable()
export class EpisodeCompactor {
  private readonly log = new Logger(EpisodeCompactor.name);

  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly budgets: Budgets,
    private readonly screening: Screening,
    private readonly settings: Settings,
  ) {}

  /**
   * Null where the answer is unusable or a NOOP: that is final. An answer that is flagged is dropped for a computed
   * summary, so that neither the turns are lost nor it reaches a prompt.
   *
   * @throws BudgetExhausted before anything is asked
   * @throws AuxiliaryUnavailable where no provider answered
   */
  async summarise(
    members: readonly RawEpisode[],
    { agent, chain, signal }: CompactorCall,
  ): Promise<CompactedSummary | null> {
    if (await this.budgets.exhausted(agent)) throw new BudgetExhausted();
    const answer = await this.auxiliary.ask({
      orgId: agent.orgId,
      agent,
      chain,
      turnId: null,
      worker: 'episode_compactor',
      system: EPISODE_COMPACTOR_RULES,
      user: episodeCompactorPrompt(members),
      schema: episodeCompactorAnswer,
      format: episodeCompactorFormat,
      maxTokens: this.settings.learning.episode_lifecycle.compaction_budget_tokens,
      signal,
    });
    if (answer.kind !== 'answer') {
      const reason = answer.kind === 'noop' ? 'the model declined' : answer.reason;
      this.log.warn(`${members.length} episodes of agent ${agent.handle} stay as they are: ${reason}`);
      return null;
    }
    const summary = summaryOf(answer.value);
    const { commonTaskPattern, commonOutcome, subjectsInvolved, notablePatterns } = summary;
    const verdict = this.screening.check(commonTaskPattern, commonOutcome, ...subjectsInvolved, notablePatterns);
    if (!verdict.flagged) return summary;
    this.log.warn(`a summary of episodes of agent ${agent.handle} was flagged and is not used: ${verdict.reason}`);
    return computedSummary(members, { alike: true });
  }
}
