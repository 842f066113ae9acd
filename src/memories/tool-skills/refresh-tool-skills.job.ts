import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import type { DemandedJob, JobContext, JobHandler, JobPayload } from '../../platform/jobs/job.models.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { PageSkills } from './page-skills.js';
import { SkillPagePlaces, type ReadablePlace } from './skill-page-places.js';

/**
 * Reads the knowledge-base pages that hold tool skills: at the start, and every `tool_skills.refresh_seconds` on one
 * replica. Where they cannot be read the last good copies stay, and the next time is soon enough.
 */
@Injectable()
export class RefreshToolSkillsJob implements JobHandler, OnModuleInit, OnApplicationBootstrap {
  readonly task = 'refresh-tool-skills';
  readonly schedule: JobHandler['schedule'];
  private readonly log = new Logger(RefreshToolSkillsJob.name);
  /** Places that could not be read the last time, so that an outage is told once. */
  private readonly failing = new Set<ReadablePlace>();

  constructor(
    private readonly places: SkillPagePlaces,
    private readonly pages: PageSkills,
    private readonly jobs: Jobs,
    private readonly handlers: JobHandlers,
    settings: Settings,
  ) {
    if (places.all.length > 0) {
      const everySeconds = settings.tool_skills.refresh_seconds;
      this.schedule = { everySeconds, due: () => Promise.resolve([this.job]) };
    }
  }

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.places.all.length > 0) await this.jobs.enqueue({ task: this.task, ...this.job });
  }

  /** After an edit that should not wait. */
  readonly onDemand = (orgId: string, body: Record<string, unknown>): Promise<DemandedJob> => {
    if (orgId !== this.pages.orgId || this.places.all.length === 0) {
      throw new ApiError(404, 'job.unknown_task', `There is no job "${this.task}" to start: no pages are configured.`);
    }
    const unknown = Object.keys(body).map((path) => ({ path, message: 'is not known: this job takes no options' }));
    if (unknown.length > 0) throw invalidRequest(unknown);
    return Promise.resolve(this.job);
  };

  async run(_: JobPayload, { signal }: JobContext): Promise<void> {
    for (const place of this.places.all) {
      try {
        await this.pages.replace(place, await place.read(signal));
        this.failing.delete(place);
      } catch (error) {
        signal.throwIfAborted();
        if (this.failing.has(place)) continue;
        this.failing.add(place);
        const why = error instanceof Error ? error.message : String(error);
        this.log.warn(`the tool skills of ${place.source} could not be read, the last good copies stay: ${why}`);
      }
    }
  }

  private get job(): DemandedJob {
    const payload = { org_id: this.pages.orgId };
    return { key: 'refresh', queue: this.task, payload, ifWaiting: 'keep', maxAttempts: 3 };
  }
}
