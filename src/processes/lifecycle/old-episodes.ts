import { Injectable, Logger } from '@nestjs/common';
import { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import { clusterSequences } from '../../core/similarity/sequence-clusters.js';
import { type EpisodePosition, type RawEpisode, RawEpisodes } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { ClusterCompaction } from './cluster-compaction.js';
import { type CompactionPass, CompactionPasses } from './compaction-passes.js';
import { type CompactorCall, EpisodeCompactor } from './episode-compactor.js';
import { daysAgo } from './lifecycle-drops.js';

/** One cluster that the model fails at must not keep it from the others; a model that is down is not asked on and on. */
const FAULTS_IN_A_ROW = 2;

/** A walk that the model failed, and how far it had come. */
export interface FailedWalk {
  fault: AuxiliaryUnavailable;
  seenTo: EpisodePosition;
}

/** The third action: similar turns that are old enough become one row each, as soon as the model has summed them up. */
@Injectable()
export class OldEpisodes {
  private readonly log = new Logger(OldEpisodes.name);

  constructor(
    private readonly raw: RawEpisodes,
    private readonly compactor: EpisodeCompactor,
    private readonly clusters: ClusterCompaction,
    private readonly passes: CompactionPasses,
    private readonly settings: Settings,
  ) {}

  /**
   * Walks in batches from where the pass has come to, up to the newest that is old enough, and then through what stands
   * before if the pass wraps. Each batch is looked at once: what is not alike in sufficient number, or refused by the
   * model, stays.
   *
   * @throws BudgetExhausted
   */
  async compact(call: CompactorCall, { cursor, wraps }: CompactionPass): Promise<FailedWalk | null> {
    const failed = await this.walk(call, cursor);
    if (failed || !wraps) return failed;
    await this.passes.wrap({ orgId: call.agent.orgId, agentId: call.agent.id });
    return this.walk(call, null);
  }

  private async walk(call: CompactorCall, from: EpisodePosition | null): Promise<FailedWalk | null> {
    const key = { orgId: call.agent.orgId, agentId: call.agent.id };
    const { compaction_min_age_days: age, compaction_batch_size: limit } = this.settings.learning.episode_lifecycle;
    const endedBefore = daysAgo(age);
    let fault: AuxiliaryUnavailable | null = null;
    for (let after = from; ;) {
      const batch = await this.raw.foldable(key, { endedBefore, after, engagedOnly: true, limit });
      const last = batch.at(-1);
      if (!last) return fault && { fault, seenTo: after! };
      after = { endedAt: last.endedAt, id: last.id };
      const failed = await this.compactBatch(call, batch);
      fault ??= failed.first;
      if (failed.stop) return { fault: fault!, seenTo: after };
      if (!fault) await this.passes.moveTo(key, after);
    }
  }

  private async compactBatch(
    call: CompactorCall,
    batch: readonly RawEpisode[],
  ): Promise<{ first: AuxiliaryUnavailable | null; stop: boolean }> {
    const { compaction_jaccard_threshold: threshold, compaction_min_cluster_size: minSize } =
      this.settings.learning.episode_lifecycle;
    let first: AuxiliaryUnavailable | null = null;
    let inARow = 0;
    for (const cluster of clusterSequences(batch, { threshold, minSize })) {
      try {
        const summary = await this.compactor.summarise(cluster.members, call);
        if (summary) await this.clusters.replace(call.agent, cluster, summary);
        inARow = 0;
      } catch (error) {
        if (!(error instanceof AuxiliaryUnavailable) || call.signal.aborted) throw error;
        this.log.warn(`${cluster.members.length} episodes of agent ${call.agent.handle} wait: ${error.message}`);
        first ??= error;
        inARow += 1;
        if (error.fault !== 'transient' || inARow === FAULTS_IN_A_ROW) return { first, stop: true };
      }
    }
    return { first, stop: false };
  }
}
