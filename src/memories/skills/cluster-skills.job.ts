import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import {
  type DemandedJob,
  type JobHandler,
  type JobInterval,
  type JobPayload,
  SERVICE_ORG,
} from '../../platform/jobs/job.models.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { CLUSTER_AGENT_SKILLS, type ClusterAgentPayload } from './cluster-agent-skills.job.js';
import { SkillClustering } from './skill-clustering.js';

/** Seconds after a start: time to take requests first, and not so long that nobody would wait for it. */
const FIRST_AFTER_SECONDS = 15;

/**
 * Looks for agents whose turns may hold clusters, and has each looked at on its own queue. Of one organisation where an
 * operator asks for it; of all, once for the whole fleet, where the schedule does.
 */
@Injectable()
export class ClusterSkillsJob implements JobHandler, OnModuleInit {
  readonly task = 'cluster-skills';
  readonly onDemand = true;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly jobs: Jobs,
    private readonly clustering: SkillClustering,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** None where it is switched off. */
  get schedule(): JobInterval | undefined {
    const { enabled, scheduler_enabled: scheduled, scheduler_interval_seconds: everySeconds } = this.knobs;
    if (!enabled || !scheduled) return undefined;
    return { everySeconds, firstAfterSeconds: FIRST_AFTER_SECONDS, due: () => Promise.resolve([FLEET]) };
  }

  async run({ org_id: orgId }: JobPayload): Promise<void> {
    if (!this.knobs.enabled) return;
    // Each by itself: one transaction would hold the locks of all their keys. A repetition finds them waiting.
    for (const agent of await this.clustering.agents(orgId === SERVICE_ORG ? null : orgId)) {
      const payload: ClusterAgentPayload = { org_id: agent.orgId, agent_id: agent.agentId };
      await this.jobs.enqueue({
        task: CLUSTER_AGENT_SKILLS,
        payload,
        key: agent.agentId,
        queue: `agent:${agent.agentId}`,
        ifWaiting: 'keep',
        // As many as a reflection worker has; the next look starts afresh.
        maxAttempts: this.settings.learning.reflect.max_attempts,
      });
    }
  }

  private get knobs(): Settings['learning']['skill_synthesis'] {
    return this.settings.learning.skill_synthesis;
  }
}

const FLEET: DemandedJob = { key: 'fleet', payload: { org_id: SERVICE_ORG }, ifWaiting: 'keep' };
