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
import { SkillCurator } from './skill-curator.js';

/** Seconds after a start. */
const FIRST_AFTER_SECONDS = 60;

/** Has the skills aged: of one organisation where an operator asks for it, of all where the schedule does. */
@Injectable()
export class CurateSkillsJob implements JobHandler, OnModuleInit {
  readonly task = 'curate-skills';
  readonly onDemand = true;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly curator: SkillCurator,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** None where it is switched off. */
  get schedule(): JobInterval | undefined {
    const { enabled, interval_hours: hours } = this.settings.learning.skill_curator;
    if (!enabled) return undefined;
    return { everySeconds: hours * 3_600, firstAfterSeconds: FIRST_AFTER_SECONDS, due: () => Promise.resolve([FLEET]) };
  }

  async run({ org_id: orgId }: JobPayload): Promise<void> {
    if (!this.settings.learning.skill_curator.enabled) return;
    await this.curator.run(orgId === SERVICE_ORG ? null : orgId);
  }
}

const FLEET: DemandedJob = { key: 'fleet', payload: { org_id: SERVICE_ORG }, ifWaiting: 'keep' };
