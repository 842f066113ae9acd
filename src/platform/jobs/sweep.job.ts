import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { JobHandlers } from './job-handlers.js';
import { SERVICE_ORG, type DemandedJob, type JobHandler } from './job.models.js';

export const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_SECONDS = 900;

/** One kind of rows that are kept for a while only. Answers how many went. */
export interface Sweep {
  name: string;
  run(now: Date): Promise<number>;
}

/** The sweeps of all rooms. Registered in `onModuleInit`. */
@Injectable()
export class Sweeps {
  private readonly sweeps: Sweep[] = [];

  register(sweep: Sweep): void {
    this.sweeps.push(sweep);
  }

  all(): readonly Sweep[] {
    return this.sweeps;
  }
}

/** Deletes what has outlived its use, every 15 minutes on one replica. One sweep that fails keeps no other from running. */
@Injectable()
export class SweepJob implements JobHandler, OnModuleInit {
  readonly task = 'sweep';
  readonly onDemand = true;
  readonly schedule = { everySeconds: EVERY_SECONDS, due: (): Promise<DemandedJob[]> => Promise.resolve([JOB]) };
  private readonly log = new Logger(SweepJob.name);

  constructor(
    private readonly sweeps: Sweeps,
    private readonly handlers: JobHandlers,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async run(): Promise<void> {
    const now = new Date();
    const failures: string[] = [];
    for (const sweep of this.sweeps.all()) {
      try {
        const rows = await sweep.run(now);
        if (rows > 0) this.log.log(`swept ${rows} ${sweep.name}`);
      } catch (error) {
        failures.push(`${sweep.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (failures.length > 0) throw new Error(failures.join('; '));
  }
}

const JOB: DemandedJob = { key: 'sweep', payload: { org_id: SERVICE_ORG }, ifWaiting: 'keep' };
