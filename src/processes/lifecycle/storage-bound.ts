import { Injectable } from '@nestjs/common';
import { RawEpisodes } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { ClusterCompaction } from './cluster-compaction.js';
import { computedSummary } from './compacted-summary.js';
import type { PassKey } from './compaction-passes.js';
import { type CompactorCall, EpisodeCompactor } from './episode-compactor.js';
import { LifecycleDrops } from './lifecycle-drops.js';
import { planOverflow, rowsToFree } from './overflow.models.js';

/** Freed beyond the bound, so that an agent at its bound needs no pass at every write: a tenth of it. */
const SLACK = 0.1;
/** Exemplars that are kept while others have to go: half of the bound. */
const EXEMPLAR_SHARE = 0.5;

/**
 * Holds the raw rows of an agent at `max_raw_episodes_per_agent`, whatever their age. Clusters and leftovers go first,
 * the oldest before the newer; what a row counts already goes before what none does, and what a skill keeps an eye on last.
 */
@Injectable()
export class StorageBound {
  constructor(
    private readonly raw: RawEpisodes,
    private readonly compactor: EpisodeCompactor,
    private readonly clusters: ClusterCompaction,
    private readonly drops: LifecycleDrops,
    private readonly settings: Settings,
  ) {}

  /**
   * With an empty chain the summaries are computed. True where the bound still does not hold, since reflections on so
   * many turns are to come.
   *
   * @throws BudgetExhausted, AuxiliaryUnavailable
   */
  async hold(call: CompactorCall): Promise<boolean> {
    const bound = this.settings.learning.episode_lifecycle.max_raw_episodes_per_agent;
    const key = { orgId: call.agent.orgId, agentId: call.agent.id };
    const over = bound === 0 ? 0 : (await this.raw.count(key, Number.MAX_SAFE_INTEGER)) - bound;
    if (over <= 0) return false;
    const slack = Math.floor(bound * SLACK);
    let need = over + slack;
    need -= await this.retireTooMany(key, { need, kept: Math.floor(bound * EXEMPLAR_SHARE) });
    need -= await this.fold(call, need);
    // What follows costs more than it gains but for the bound itself.
    need -= slack;
    if (need > 0) need -= await this.drops.retireExemplars(key, need);
    if (need > 0) need -= await this.drops.dropUnfinished(key, need);
    if (need > 0) need -= await this.fold({ ...call, chain: [] }, need, { consolidated: true });
    return need > 0;
  }

  private async retireTooMany(key: PassKey, { need, kept }: { need: number; kept: number }): Promise<number> {
    const tooMany = Math.min(need, (await this.raw.countExemplars(key)) - kept);
    return tooMany > 0 ? this.drops.retireExemplars(key, tooMany) : 0;
  }

  /** Frees `need` rows, as far as there are some to fold. Answers how many it freed. */
  private async fold(call: CompactorCall, need: number, which: { consolidated?: boolean } = {}): Promise<number> {
    const settings = this.settings.learning.episode_lifecycle;
    const rules = {
      threshold: settings.compaction_jaccard_threshold,
      minSize: settings.compaction_min_cluster_size,
      exemplars: settings.exemplar_count,
    };
    const key = { orgId: call.agent.orgId, agentId: call.agent.id };
    let freed = 0;
    while (freed < need) {
      const step = Math.min(need - freed, settings.compaction_batch_size);
      const rows = await this.raw.foldable(key, { ...which, limit: rowsToFree(step, rules) });
      const { clusters, leftovers, idle } = planOverflow(rows, step, rules);
      let now = 0;
      for (const cluster of clusters) {
        const summary = call.chain.length > 0 ? await this.compactor.summarise(cluster.members, call) : null;
        now += await this.clusters.replace(
          call.agent,
          cluster,
          summary ?? computedSummary(cluster.members, { alike: true }),
        );
      }
      now += await this.clusters.fold(call.agent, leftovers);
      now += await this.clusters.fold(call.agent, idle);
      if (now === 0) break;
      freed += now;
    }
    return freed;
  }
}
