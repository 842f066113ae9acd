import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Sweeps } from './sweep.job.js';

/** Clears away what jobs leave behind. */
@Injectable()
export class JobSweep implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({ name: 'jobs that newer ones retired', run: () => this.sweepRetired() });
    this.sweeps.register({ name: 'job queues without a job', run: () => this.sweepQueues() });
  }

  private async sweepRetired(): Promise<number> {
    const rows = await this.database.query(
      `select from graphile_worker.complete_jobs(
         array(select id from graphile_worker.jobs where key is null and locked_at is null))`,
    );
    return rows.length;
  }

  /** Taking a job locks every free queue, so idle ones cost: with 5,000 of them 10 to 100 ms a job. */
  private sweepQueues(): Promise<number> {
    return this.database.transaction(async () => {
      await this.database.query(`set local lock_timeout = '2s'`);
      // Keeps out a job that is just being added to an idle queue; graphile-worker's own clean-up takes no lock.
      await this.database.query(`lock table graphile_worker._private_job_queues in share row exclusive mode`);
      const rows = await this.database.query(
        `delete from graphile_worker._private_job_queues
         where locked_at is null and queue_name not in (
           select queue_name from graphile_worker.jobs where queue_name is not null)
         returning id`,
      );
      return rows.length;
    });
  }
}
