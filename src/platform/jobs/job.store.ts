import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { JobBell } from './job-bell.js';
import type { JobPayload, JobRequest } from './job.models.js';

/** A job that a worker holds. */
export interface HeldJob {
  id: string;
  key: string | null;
  payload: JobPayload;
  /** This one included. */
  attempts: number;
  workerId: string;
}

interface HeldRow {
  key: string | null;
  locked_by: string | null;
  task: string;
  queue: string | null;
  max_attempts: number;
}

interface AddedJob {
  task: string;
  payload: JobPayload;
  key: string;
  queue: string | null;
  runAt: Date | null;
  maxAttempts: number;
}

/**
 * Writes to the job queue of graphile-worker, by its public functions and views alone.
 *
 * Its public view hides the payload, and its keys are one namespace. So the key starts with the organisation, and the ids
 * that jobs are listed by are kept as flags, which the view shows; flags have no other effect on a runner that
 * forbids none.
 *
 * Adding a job whose key a running job holds retires that one: it loses its key and will not be tried again. So a job
 * that puts itself off must not do so over a newer one. Everybody who writes a key therefore takes its lock first.
 */
@Injectable()
export class JobStore {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly bell: JobBell,
  ) {}

  /** Joins the running transaction. Answers with the id. */
  add(request: JobRequest): Promise<string> {
    const key = keyOf(request);
    return this.underKey(key, async () => {
      if (request.ifWaiting === 'keep') {
        const [waiting] = await this.database.query<{ id: string }>(
          `select id from graphile_worker.jobs where key = $1 and locked_at is null and attempts < max_attempts`,
          [key],
        );
        if (waiting) return waiting.id;
      }
      return this.insert({
        task: request.task,
        payload: request.payload,
        key,
        queue: request.queue ?? null,
        runAt: request.runAt ?? null,
        maxAttempts: request.maxAttempts ?? this.settings.jobs.max_attempts,
      });
    });
  }

  /**
   * Has a running job run again at `at`, as if this attempt had not been. Does nothing where a newer job has taken its
   * key: that one will run anyway. The runner drops the old row when the attempt ends.
   */
  async putOff(job: HeldJob, at: Date, reason?: string): Promise<void> {
    await this.succeed(job, async (id) => {
      // The only public way to state a reason; the attempts are set right after.
      if (reason !== undefined) await this.fail(id, reason);
      await this.database.query(
        `select from graphile_worker.reschedule_jobs(array[$1::bigint], run_at => $2, attempts => $3)`,
        [id, at, job.attempts - 1],
      );
    });
  }

  /** Ends a running job for good but keeps it visible; `also` runs in the same transaction. As `putOff` otherwise. */
  async bury(job: HeldJob, error: string, also: () => Promise<void>): Promise<void> {
    await this.succeed(job, async (id) => {
      await this.database.query(`select from graphile_worker.reschedule_jobs(array[$1::bigint], max_attempts => $2)`, [
        id,
        job.attempts,
      ]);
      await this.fail(id, error);
      await also();
    });
  }

  /** Makes a dead job run again, from its first attempt. Null where it is not dead (any more). */
  async revive(id: string, also: (payload: JobPayload) => Promise<void>): Promise<JobPayload | null> {
    const key = await this.keyOf(id);
    if (key === null) return null;
    return this.underKey(key, async () => {
      const [dead] = await this.database.query(
        `select from graphile_worker.jobs where id = $1 and key = $2 and locked_at is null and attempts >= max_attempts`,
        [id, key],
      );
      if (!dead) return null;
      const [revived] = await this.database.query<{ payload: JobPayload }>(
        `select payload from graphile_worker.reschedule_jobs(
           array[$1::bigint], run_at => now(), attempts => 0, max_attempts => $2)`,
        [id, this.settings.jobs.max_attempts],
      );
      if (!revived) return null;
      await also(revived.payload);
      this.bell.ring();
      return revived.payload;
    });
  }

  /** Moves a waiting job to `at` if that is sooner. */
  async hasten(request: Pick<JobRequest, 'task' | 'payload' | 'key'>, at: Date): Promise<void> {
    await this.database.query(
      `select from graphile_worker.reschedule_jobs(
         array(select id from graphile_worker.jobs where key = $1 and run_at > $2), run_at => $2)`,
      [keyOf(request), at],
    );
  }

  private async fail(id: string, error: string): Promise<void> {
    await this.database.query(`select from graphile_worker.permanently_fail_jobs(array[$1::bigint], $2)`, [id, error]);
  }

  private async keyOf(id: string): Promise<string | null> {
    const [row] = await this.database.query<{ key: string | null }>(
      `select key from graphile_worker.jobs where id = $1`,
      [id],
    );
    return row?.key ?? null;
  }

  /**
   * Adds the job's successor under its key, unless a newer job holds that.
   * @throws Error where the job was taken from its worker, which then must not end it either
   */
  private async succeed(job: HeldJob, settle: (id: string) => Promise<void>): Promise<void> {
    const { id, key, payload, workerId } = job;
    if (key === null) return;
    await this.underKey(key, async () => {
      const [row] = await this.database.query<HeldRow>(
        `select key, locked_by, task_identifier as task, queue_name as queue, max_attempts
         from graphile_worker.jobs where id = $1`,
        [id],
      );
      if (row?.locked_by !== workerId) throw new Error(`the job ${id} was given to another worker`);
      if (row.key !== key) return;
      const { task, queue, max_attempts: maxAttempts } = row;
      await settle(await this.insert({ task, payload, key, queue, runAt: null, maxAttempts }));
    });
  }

  private async insert({ task, payload, key, queue, runAt, maxAttempts }: AddedJob): Promise<string> {
    const [added] = await this.database.query<{ id: string }>(
      `select id from graphile_worker.add_job($1, payload => $2::json, job_key => $3, queue_name => $4, run_at => $5,
         max_attempts => $6, flags => $7::text[])`,
      [task, JSON.stringify(payload), key, queue, runAt, maxAttempts, flagsOf(payload)],
    );
    this.bell.ring();
    return added!.id;
  }

  private underKey<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [key]);
      return work();
    });
  }
}

function keyOf({ task, payload, key }: Pick<JobRequest, 'task' | 'payload' | 'key'>): string {
  if (key === '' || key.length > 300) throw new Error(`the key of a job has 1 to 300 characters, not ${key.length}`);
  return `${payload.org_id}:${task}:${key}`;
}

/** One flag an id, `agent_id:…`. */
function flagsOf({ org_id, agent_id, turn_id }: JobPayload): string[] {
  return Object.entries({ org_id, agent_id, turn_id })
    .filter(([, id]) => id !== undefined)
    .map(([name, id]) => `${name}:${id}`);
}
