import { Injectable, Logger } from '@nestjs/common';
import { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import { Budgets } from '../../core/organization/budgets.js';
import type { EpisodePosition } from '../../memories/episodes/raw-episodes.js';
import type { JobOutcome } from '../../platform/jobs/job.models.js';
import { BudgetExhausted, type CompactorCall } from './episode-compactor.js';
import type { CompactionPass } from './compaction-passes.js';
import { LifecycleDrops } from './lifecycle-drops.js';
import { LifecyclePasses } from './lifecycle-passes.js';
import { OldEpisodes } from './old-episodes.js';
import { StorageBound } from './storage-bound.js';
import type { LifecycleAgent } from './lifecycle-agents.js';

/** Seconds until a bound that reflections keep from holding is looked at again. */
const REFLECTION_WAIT_SECONDS = 60;

/** How an attempt at a pass went; `behind`: where the next pass begins. */
type Attempt =
  | { status: 'done' }
  | { status: 'again'; at: Date; reason: string }
  | { status: 'dead'; error: string; behind: EpisodePosition | null };

/**
 * Keeps what an agent remembers of its turns bounded (mission, "Episode lifecycle"): unfinished and consolidated turns are
 * dropped, old ones of a kind become one row, the raw rows are held at their bound, ancient rows go. Every step is a
 * transaction of its own and all that it knows is in the database, so it may be killed anywhere and run again.
 */
@Injectable()
export class EpisodeLifecycleWorker {
  private readonly log = new Logger(EpisodeLifecycleWorker.name);

  constructor(
    private readonly passes: LifecyclePasses,
    private readonly drops: LifecycleDrops,
    private readonly old: OldEpisodes,
    private readonly bound: StorageBound,
    private readonly budgets: Budgets,
  ) {}

  /** Carries the agent's pass as far as it goes now, whatever the number of its episodes. */
  async run(subject: LifecycleAgent, signal: AbortSignal): Promise<JobOutcome> {
    const { agent, chain } = subject;
    const key = { orgId: agent.orgId, agentId: agent.id };
    const pass = await this.passes.open(key);
    if (pass.retryAt && pass.retryAt.getTime() > Date.now()) {
      return { status: 'again', at: pass.retryAt, reason: 'backoff' };
    }
    await this.drops.dropAged(key);
    const attempt = await this.compact({ agent, chain, signal }, pass);
    await this.drops.evict(key);
    if (attempt.status === 'again') {
      this.log.log(`the episodes of agent ${agent.handle} wait: ${attempt.reason}`);
      return attempt;
    }
    const dead = attempt.status === 'dead';
    await this.passes.end(subject, dead ? { skipped: 'model_unavailable', behind: attempt.behind } : {});
    return dead ? { status: 'dead', error: attempt.error } : attempt;
  }

  /** The third action and the storage bound. */
  private async compact(call: CompactorCall, pass: CompactionPass): Promise<Attempt> {
    try {
      const failed = call.chain.length > 0 ? await this.old.compact(call, pass) : null;
      if (failed) return await this.afterFault(call, pass, failed.fault, failed.seenTo);
      return this.unlessOver({ status: 'done' }, await this.bound.hold(call));
    } catch (error) {
      if (error instanceof BudgetExhausted) {
        return { status: 'again', at: this.budgets.askAgainAt(), reason: 'budget_exhausted' };
      }
      if (error instanceof AuxiliaryUnavailable && !call.signal.aborted)
        return this.afterFault(call, pass, error, null);
      throw error;
    }
  }

  /** What is over the bound waits no longer than the attempts last; what is merely old waits on. */
  private async afterFault(
    call: CompactorCall,
    pass: CompactionPass,
    fault: AuxiliaryUnavailable,
    behind: EpisodePosition | null,
  ): Promise<Attempt> {
    const at = await this.passes.fail({ orgId: call.agent.orgId, agentId: call.agent.id }, pass, fault);
    if (at) return { status: 'again', at, reason: `backoff: ${fault.message}` };
    const over = await this.bound.hold({ ...call, chain: [] });
    return this.unlessOver({ status: 'dead', error: `episode_compactor: ${fault.message}`, behind }, over);
  }

  private unlessOver(attempt: Attempt, over: boolean): Attempt {
    if (!over) return attempt;
    return {
      status: 'again',
      at: new Date(Date.now() + REFLECTION_WAIT_SECONDS * 1000),
      reason: 'reflections_pending',
    };
  }
}
