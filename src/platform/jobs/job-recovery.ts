import { Injectable } from '@nestjs/common';
import { DatabaseConnection } from '../database/connection.js';
import { Database } from '../database/database.js';
import { JobTimings } from './job.models.js';

/**
 * Gives the jobs of processes that died to others. A job that ran at a crash stays locked by its worker, and so does its
 * queue; graphile-worker itself waits four hours.
 */
@Injectable()
export class JobRecovery {
  constructor(
    private readonly database: Database,
    private readonly connection: DatabaseConnection,
    private readonly timings: JobTimings,
  ) {}

  /** Before the first worker of this process starts. */
  async atStart(): Promise<void> {
    // The embedded database belongs to this process alone: whoever holds a lock is gone.
    if (this.connection.mode === 'embedded') await this.unlock(`true`, []);
    else await this.unlockDead();
  }

  /** Says that these workers live, and unlocks the jobs of those that have not said so for long. */
  async beat(workerIds: readonly string[]): Promise<void> {
    if (this.connection.mode === 'embedded') return;
    await this.database.query(
      `insert into job_worker_heartbeats (worker_id, seen_at) select unnest($1::text[]), now()
       on conflict (worker_id) do update set seen_at = excluded.seen_at`,
      [workerIds],
    );
    await this.unlockDead();
  }

  /** Forgets workers that have stopped; what they still hold is unlocked. */
  async bidFarewell(workerIds: readonly string[]): Promise<void> {
    await this.database.query(`select graphile_worker.force_unlock_workers($1::text[])`, [workerIds]);
    await this.database.query(`delete from job_worker_heartbeats where worker_id = any($1::text[])`, [workerIds]);
  }

  /** Gives back jobs that still run, as if their attempt had not been. */
  async giveBack(workerIds: readonly string[], jobs: readonly { id: string; attempts: number }[]): Promise<void> {
    await this.database.transaction(async () => {
      await this.database.query(`select graphile_worker.force_unlock_workers($1::text[])`, [workerIds]);
      for (const { id, attempts } of jobs) {
        // One that has lost its key meanwhile is followed by a newer one and must not come back.
        await this.database.query(
          `select from graphile_worker.reschedule_jobs(
             array(select id from graphile_worker.jobs where id = $1 and key is not null), attempts => $2)`,
          [id, attempts - 1],
        );
      }
    });
  }

  /** A lock younger than the time limit is left alone: the first heartbeat of its worker may be on its way. */
  private async unlockDead(): Promise<void> {
    await this.unlock(
      `held.locked_at < now() - $1 * interval '1 millisecond' and not exists (
         select from job_worker_heartbeats beat
         where beat.worker_id = held.locked_by and beat.seen_at >= now() - $1 * interval '1 millisecond')`,
      [this.timings.stale],
    );
    // Two workers had one job, as the first was silent for too long: its end has freed no queue but its own.
    await this.database.query(
      `update graphile_worker._private_job_queues queue set locked_at = null, locked_by = null
       where locked_at < now() - $1 * interval '1 millisecond' and not exists (
         select from graphile_worker.jobs job
         where job.queue_name = queue.queue_name and job.locked_by = queue.locked_by)`,
      [this.timings.stale],
    );
    await this.database.query(`delete from job_worker_heartbeats where seen_at < now() - interval '1 day'`);
  }

  /** The locks of queues are in no public view. */
  private async unlock(condition: string, parameters: unknown[]): Promise<void> {
    await this.database.query(
      `select graphile_worker.force_unlock_workers(array(
         select distinct locked_by from (
           select locked_by, locked_at from graphile_worker.jobs
           union all select locked_by, locked_at from graphile_worker._private_job_queues) held
         where locked_by is not null and ${condition}))`,
      parameters,
    );
  }
}
