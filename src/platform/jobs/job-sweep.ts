import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { JobHandlers } from './job-handlers.js';
import { type JobHandler, SERVICE_ORG } from './job.models.js';

const EVERY_SECONDS = 900;

/** Clears away what jobs leave behind: those that a newer one retired, and queues without a job. */
@Injectable()
export class JobSweep implements JobHandler, OnModuleInit {
  readonly task = 'sweep-jobs';
  readonly schedule = {
    everySeconds: EVERY_SECONDS,
    due: async () => [{ key: 'service', payload: { org_id: SERVICE_ORG } }],
  };

  constructor(
    private readonly database: Database,
    private readonly handlers: JobHandlers,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async run(): Promise<void> {
    await this.database.query(
      `select from graphile_worker.complete_jobs(
         array(select id from graphile_worker.jobs where key is null and locked_at is null))`,
    );
    await this.database.transaction(async () => {
      // Taking a job locks every free queue, so idle ones cost. The table lock keeps out a job that is just being added to
      // one of them; graphile-worker's own clean-up takes none.
      await this.database.query(`set local lock_timeout = '2s'`);
      await this.database.query(`lock table graphile_worker._private_job_queues in share row exclusive mode`);
      await this.database.query(
        `delete from graphile_worker._private_job_queues
         where locked_at is null and queue_name not in (
           select queue_name from graphile_worker.jobs where queue_name is not null)`,
      );
    });
  }
}
