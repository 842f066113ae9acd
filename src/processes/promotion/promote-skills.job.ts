import { Injectable, type OnModuleInit } from '@nestjs/common';
import { contentHash } from '../../core/turn/content-hash.js';
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
import { PROMOTE_UNIT_SKILLS, type PromoteUnitPayload } from './promote-unit-skills.job.js';
import { PromotionUnits } from './promotion-units.js';

/** Seconds after a start: behind the first look for clusters of turns, whose skills it goes by. */
const FIRST_AFTER_SECONDS = 45;

/**
 * Looks for units whose members may have learned the same, and has each looked at on its own queue. Of one organisation
 * where an operator asks for it; of all, once for the whole fleet, where the schedule does.
 */
@Injectable()
export class PromoteSkillsJob implements JobHandler, OnModuleInit {
  readonly task = 'promote-skills';
  readonly onDemand = true;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly jobs: Jobs,
    private readonly units: PromotionUnits,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** As often as turns are clustered; none where that is not scheduled, and where nothing can be promoted. */
  get schedule(): JobInterval | undefined {
    const { scheduler_enabled: scheduled, scheduler_interval_seconds: everySeconds } =
      this.settings.learning.skill_synthesis;
    if (!this.isOn || !scheduled) return undefined;
    return { everySeconds, firstAfterSeconds: FIRST_AFTER_SECONDS, due: () => Promise.resolve([FLEET]) };
  }

  async run({ org_id: orgId }: JobPayload): Promise<void> {
    if (!this.isOn) return;
    const { min_sibling_count: minAgents } = this.settings.learning.skill_promotion;
    // Each by itself: one transaction would hold the locks of all their keys. A repetition finds them waiting.
    for (const found of await this.units.withWork(orgId === SERVICE_ORG ? null : orgId, minAgents)) {
      const payload: PromoteUnitPayload = { org_id: found.orgId, unit: found.unit };
      const key = contentHash(payload);
      await this.jobs.enqueue({
        task: PROMOTE_UNIT_SKILLS,
        payload,
        key,
        queue: `unit:${key}`,
        ifWaiting: 'keep',
        // As many as a reflection worker has; the next look starts afresh.
        maxAttempts: this.settings.learning.reflect.max_attempts,
      });
    }
  }

  private get isOn(): boolean {
    return this.settings.learning.skill_promotion.enabled && this.settings.knowledge.backend !== 'none';
  }
}

const FLEET: DemandedJob = { key: 'fleet', payload: { org_id: SERVICE_ORG }, ifWaiting: 'keep' };
