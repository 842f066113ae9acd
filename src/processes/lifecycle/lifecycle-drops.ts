import { Injectable } from '@nestjs/common';
import { CompactedEpisodes } from '../../memories/episodes/compacted-episodes.js';
import { RawEpisodes } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { DAY_MS } from '../../platform/jobs/sweep.job.js';
import { CompactionPasses, type PassCounts, type PassKey } from './compaction-passes.js';

/** The actions that only delete; each commits with its count. */
@Injectable()
export class LifecycleDrops {
  constructor(
    private readonly raw: RawEpisodes,
    private readonly compacted: CompactedEpisodes,
    private readonly passes: CompactionPasses,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** The first two actions: unfinished turns, and what skills have taken the place of. 0 days: none. */
  async dropAged(agent: PassKey): Promise<void> {
    const { non_terminal_max_age_days: age, consolidated_grace_days: grace } = this.settings.learning.episode_lifecycle;
    if (age > 0) {
      await this.counted(agent, 'non_terminal_dropped', () =>
        this.raw.dropUnfinished(agent, { endedBefore: daysAgo(age) }),
      );
    }
    if (grace > 0) {
      await this.counted(agent, 'consolidated_dropped', () => this.raw.dropConsolidated(agent, daysAgo(grace)));
    }
  }

  /** The last action. 0 days: none. */
  async evict(agent: PassKey): Promise<void> {
    const age = this.settings.learning.episode_lifecycle.compacted_max_age_days;
    if (age === 0) return;
    await this.counted(agent, 'compacted_evicted', () =>
      this.compacted.evict(agent.orgId, agent.agentId, daysAgo(age)),
    );
  }

  /** The oldest unfinished turns, before their age. */
  dropUnfinished(agent: PassKey, limit: number): Promise<number> {
    return this.counted(agent, 'non_terminal_dropped', () =>
      // No turn ends later than a day from now.
      this.raw.dropUnfinished(agent, { endedBefore: daysAgo(-2), limit }),
    );
  }

  /** The oldest exemplars. */
  retireExemplars(agent: PassKey, limit: number): Promise<number> {
    return this.counted(agent, 'raw_replaced_by_compaction', () =>
      this.compacted.retireExemplars(agent.orgId, agent.agentId, limit),
    );
  }

  private counted(agent: PassKey, name: keyof PassCounts, drop: () => Promise<number>): Promise<number> {
    return this.database.transaction(async () => {
      const dropped = await drop();
      if (dropped > 0) await this.passes.count(agent, { [name]: dropped });
      return dropped;
    });
  }
}

export function daysAgo(days: number): Date {
  return new Date(Date.now() - days * DAY_MS);
}
