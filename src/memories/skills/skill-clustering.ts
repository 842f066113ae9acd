import { Injectable } from '@nestjs/common';
import type { Agent } from '../../core/organization/agents.js';
import { ErasedMeanwhile, ErasureGate } from '../../core/personal-data/erasure-gate.js';
import { LearningGate } from '../../core/organization/learning-gate.js';
import { clusterSequences } from '../../core/similarity/sequence-clusters.js';
import { Settings } from '../../platform/config/settings.js';
import type { JobOutcome } from '../../platform/jobs/job.models.js';
import { EpisodeTrajectories, type Trajectory, type TrajectoryScope } from '../episodes/episode-trajectories.js';
import type { SkillCandidate } from './skill-synthesis.models.js';
import { SkillSynthesizer, type SynthesisModel } from './skill-synthesizer.js';

/** With the last erasure that its episodes have seen. */
export type ClusterCandidate = SkillCandidate & { readSince: string };

/**
 * The clustered path of the SkillSynthesizer (mission, "SkillSynthesizer"): the newest successful turns of an agent, those
 * of a back-fill included, are clustered by their tool sequences, and each cluster that is large enough is drafted from.
 */
@Injectable()
export class SkillClustering {
  constructor(
    private readonly trajectories: EpisodeTrajectories,
    private readonly synthesizer: SkillSynthesizer,
    private readonly gate: LearningGate,
    private readonly erasures: ErasureGate,
    private readonly settings: Settings,
  ) {}

  /** The agents that have enough turns for one cluster; of one organisation, or of all where `orgId` is null. */
  agents(orgId: string | null): Promise<TrajectoryScope[]> {
    return this.trajectories.agentsWith(this.knobs.cluster_min_size, this.since, orgId);
  }

  /** The clusters of an agent that the model may be asked about: where there is none, nothing has to be waited for. */
  async candidates(agent: Agent): Promise<ClusterCandidate[]> {
    if (!this.knobs.enabled) return [];
    const { cluster_min_size: minSize, cluster_jaccard_threshold: threshold, episode_fetch_limit: limit } = this.knobs;
    const { id, orgId, handle, role } = agent;
    const readSince = await this.erasures.latest(orgId);
    const turns = await this.trajectories.newest({ orgId, agentId: id }, this.since, limit);
    const candidates: ClusterCandidate[] = [];
    for (const { leader, members } of clusterSequences(turns, { threshold, minSize })) {
      const candidate: ClusterCandidate = {
        orgId,
        agent: { id, handle, role },
        trigger: 'clustered',
        turnId: null,
        leader,
        members: members.sort(newestFirst),
        traceId: null,
        spanId: null,
        readSince,
      };
      candidates.push(candidate);
    }
    return this.synthesizer.worthAsking({ orgId, agentId: id }, candidates);
  }

  /**
   * Each candidate commits by itself, so a run that is broken off goes on with the next one.
   *
   * @throws AuxiliaryUnavailable if no provider replied
   */
  async run(agent: Agent, candidates: readonly ClusterCandidate[], model: SynthesisModel): Promise<JobOutcome> {
    for (const candidate of candidates) {
      model.signal.throwIfAborted();
      const wait = await this.gate.overBudget(agent);
      if (wait) return wait;
      const result = await this.synthesizer.synthesize(candidate, model);
      try {
        await this.erasures.transactionSince(agent.orgId, candidate.readSince, async () => {
          await result.apply?.();
        });
      } catch (error) {
        if (!(error instanceof ErasedMeanwhile)) throw error;
        return { status: 'again', at: new Date(), reason: error.message };
      }
    }
    return { status: 'done' };
  }

  private get knobs(): Settings['learning']['skill_synthesis'] {
    return this.settings.learning.skill_synthesis;
  }

  /** Null where there is no limit of age. */
  private get since(): Date | null {
    const hours = this.knobs.cluster_window_hours;
    return hours === 0 ? null : new Date(Date.now() - hours * 3_600_000);
  }
}

function newestFirst(a: Trajectory, b: Trajectory): number {
  return b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1);
}
