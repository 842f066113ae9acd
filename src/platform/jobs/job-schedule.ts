import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { JobHandlers } from './job-handlers.js';
import { type JobHandler, type JobOutcome, type JobPayload, SERVICE_ORG } from './job.models.js';
import { JobStore } from './job.store.js';

interface ScheduledPayload extends JobPayload {
  scheduled: string;
}

/**
 * Enqueues what handlers want done from time to time. Each schedule is itself one durable job that puts itself off: so it
 * runs on one replica, and a restart neither repeats nor delays it, but may bring it forward.
 */
@Injectable()
export class JobSchedule implements JobHandler<ScheduledPayload>, OnModuleInit, OnApplicationBootstrap {
  readonly task = 'schedule';
  private readonly log = new Logger('Jobs');

  constructor(
    private readonly database: Database,
    private readonly handlers: JobHandlers,
    private readonly store: JobStore,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const { task, schedule } of this.handlers.all()) {
      if (!schedule) continue;
      const payload: ScheduledPayload = { org_id: SERVICE_ORG, scheduled: task };
      const { everySeconds, firstAfterSeconds = everySeconds } = schedule;
      const runAt = after(Math.min(everySeconds, firstAfterSeconds));
      await this.store.add({ task: this.task, key: task, payload, runAt, ifWaiting: 'keep' });
      // The interval may be shorter than it was, or the first time sooner than the next one.
      await this.store.hasten({ task: this.task, key: task, payload }, runAt);
    }
  }

  /** Whatever happens, there is a next time. */
  async run({ scheduled: task }: ScheduledPayload): Promise<JobOutcome> {
    const schedule = this.handlers.get(task)?.schedule;
    if (!schedule) return { status: 'done' };
    try {
      const due = await schedule.due();
      await this.database.transaction(async () => {
        for (const job of due) await this.store.add({ ...job, task });
      });
    } catch (error) {
      this.log.warn(`the schedule of ${task} failed and waits for its next time: ${String(error)}`);
    }
    return { status: 'again', at: after(schedule.everySeconds) };
  }
}

function after(seconds: number): Date {
  return new Date(Date.now() + seconds * 1_000);
}
