import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuxiliaryModel, AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import { Agents } from '../../core/organization/agents.js';
import { LearningGate } from '../../core/organization/learning-gate.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import type { JobContext, JobHandler, JobOutcome, JobPayload } from '../../platform/jobs/job.models.js';
import { SkillClustering } from './skill-clustering.js';

export const CLUSTER_AGENT_SKILLS = 'cluster-agent-skills';

/** While every provider is left alone. */
const BREAKER_WAIT_MS = 30_000;

export interface ClusterAgentPayload extends JobPayload {
  agent_id: string;
}

/**
 * Drafts skills from the clusters of one agent. Runs on the agent's queue, so that it and the reflections of the agent see
 * each other's skills.
 */
@Injectable()
export class ClusterAgentSkillsJob implements JobHandler<ClusterAgentPayload>, OnModuleInit {
  readonly task = CLUSTER_AGENT_SKILLS;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly agents: Agents,
    private readonly auxiliary: AuxiliaryModel,
    private readonly gate: LearningGate,
    private readonly clustering: SkillClustering,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** A fault that passes by is thrown: the job tries again with back-off, and is dead once its attempts are spent. */
  async run({ org_id: orgId, agent_id: agentId }: ClusterAgentPayload, { signal }: JobContext): Promise<JobOutcome> {
    const agent = await this.agents.find(orgId, agentId);
    if (!agent?.active) return { status: 'done' };
    const candidates = await this.clustering.candidates(agent);
    if (candidates.length === 0) return { status: 'done' };
    return this.gate.pass(agent, async (role) => {
      const chain = this.auxiliary.chainOf(role);
      if (chain.length === 0) return { status: 'done' };
      try {
        return await this.clustering.run(agent, candidates, { chain, signal });
      } catch (error) {
        if (!(error instanceof AuxiliaryUnavailable) || signal.aborted) throw error;
        if (error.fault === 'refused') return { status: 'dead', error: error.message };
        if (error.fault !== 'open') throw error;
        const at = error.retryAt ?? new Date(Date.now() + BREAKER_WAIT_MS);
        return { status: 'again', at, reason: error.message };
      }
    });
  }
}
