import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import type { FieldProblem } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import type { DemandedJob, JobContext, JobHandler, JobOutcome } from '../../platform/jobs/job.models.js';
import { COMPACT_EPISODES, type CompactEpisodesPayload, passOf } from './compaction.queue.js';
import { CompactionPasses } from './compaction-passes.js';
import { EpisodeLifecycleWorker } from './episode-lifecycle-worker.js';
import { LifecycleAgents } from './lifecycle-agents.js';

/** Runs the lifecycle pass of one agent: after a write over its bound, or when an operator wants it. */
@Injectable()
export class CompactEpisodesJob implements JobHandler<CompactEpisodesPayload>, OnModuleInit {
  readonly task = COMPACT_EPISODES;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly worker: EpisodeLifecycleWorker,
    private readonly subjects: LifecycleAgents,
    private readonly agents: Agents,
    private readonly passes: CompactionPasses,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async run({ org_id: orgId, agent_id: agentId }: CompactEpisodesPayload, { signal }: JobContext): Promise<JobOutcome> {
    const subject = await this.subjects.find(orgId, agentId);
    if (subject) return this.worker.run(subject, signal);
    await this.passes.forget({ orgId, agentId });
    return { status: 'done' };
  }

  /** `{agent}`: id or handle. What waits for a back-off runs at once, with all its attempts. */
  readonly onDemand = async (
    orgId: string,
    body: Record<string, unknown>,
  ): Promise<DemandedJob<CompactEpisodesPayload>> => {
    const { agent: name, ...others } = body;
    const problems: FieldProblem[] = Object.keys(others).map((path) => ({
      path,
      message: `${path} is not a known field`,
    }));
    if (typeof name !== 'string' || name === '') {
      problems.unshift({ path: 'agent', message: name === undefined ? 'agent is required' : 'agent must be a string' });
    }
    if (problems.length > 0) throw invalidRequest(problems);
    const agent = await this.agents.get(orgId, name as string);
    await this.passes.restart({ orgId, agentId: agent.id });
    return passOf(orgId, agent.id);
  };
}
