import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Job,
  type JobHelpers,
  type Logger,
  run,
  type Runner,
  type Worker,
  type WorkerEvents,
} from 'graphile-worker';
import pg from 'pg';
import type { DatabaseConnection } from '../database/connection.js';
import type { JobContext, JobPayload } from './job.models.js';
import type { HeldJob } from './job.store.js';

/** A connection whose other end went silent must not keep its worker for ever; the runner's own queries are short. */
const QUERY_TIMEOUT_MS = 60_000;

export interface CrewOptions {
  connection: DatabaseConnection;
  tasks: readonly string[];
  /** How many jobs run at a time. */
  concurrency: number;
  /** Milliseconds. */
  pollInterval: number;
  logger: Logger;
  perform(task: string, job: HeldJob, context: JobContext): Promise<void>;
  /** Called once if a worker breaks: it could not tell the database what became of a job. */
  onBroken(): void;
}

/** The workers of one start of graphile-worker, which begin and end together, with connections of their own. */
export class JobCrew {
  private runner: Runner;
  private readonly workers: Worker[] = [];
  private readonly active = new Set<Worker>();
  /** A job must not run in the context of the request that enqueued it. */
  private readonly scope = new AsyncResource('JobCrew');
  private readonly abort = new AbortController();

  private constructor(private readonly pool: pg.Pool) {}

  static async start(options: CrewOptions): Promise<JobCrew> {
    const { connection, concurrency } = options;
    // Beside one a worker, one that listens and one to spare.
    const crew = new JobCrew(
      new pg.Pool({ ...connection.poolConfig, max: concurrency + 2, query_timeout: QUERY_TIMEOUT_MS }),
    );
    crew.pool.on('error', () => undefined);
    const events: WorkerEvents = new EventEmitter();
    events.on('worker:create', ({ worker }) => {
      crew.workers.push(worker);
      crew.active.add(worker);
    });
    events.on('worker:release', ({ worker }) => crew.active.delete(worker));
    events.once('worker:fatalError', () => {
      if (!crew.abort.signal.aborted) options.onBroken();
    });
    try {
      crew.runner = await run({
        pgPool: crew.pool,
        events,
        logger: options.logger,
        concurrency,
        pollInterval: options.pollInterval,
        noHandleSignals: true,
        // The embedded database has one session for all connections: a name would be taken.
        noPreparedStatements: connection.mode === 'embedded',
        taskList: Object.fromEntries(options.tasks.map((task) => [task, crew.perform(task, options)])),
      });
    } catch (error) {
      await crew.pool.end();
      throw error;
    }
    return crew;
  }

  get workerIds(): string[] {
    return this.workers.map(({ workerId }) => workerId);
  }

  /** Has an idle worker look for a job at once. */
  nudge(): void {
    this.scope.runInAsyncScope(() => [...this.active].some((worker) => worker.nudge()));
  }

  /** Takes no more jobs and tells the running ones to end. Hands those that have not after `grace` ms to `giveBack`. */
  async stop(grace: number, giveBack: (jobs: Job[]) => Promise<void>): Promise<void> {
    const stopped = this.runner.stop();
    this.abort.abort();
    const patience = new AbortController();
    const late = sleep(grace, true, { signal: patience.signal }).catch(() => false);
    if (await Promise.race([stopped.then(() => false), late])) {
      await giveBack(this.workers.map((worker) => worker.getActiveJob()).filter((job) => job !== null));
      for (const worker of this.workers) void worker.release(true);
      await stopped;
    }
    patience.abort();
    await this.pool.end();
  }

  private perform(task: string, options: CrewOptions) {
    return (payload: unknown, { job }: JobHelpers): Promise<void> => {
      const { id, key, attempts, max_attempts: maxAttempts, locked_by: workerId } = job;
      return options.perform(
        task,
        { id, key, payload: payload as JobPayload, attempts, workerId: workerId ?? '' },
        { attempt: attempts, maxAttempts, signal: this.abort.signal },
      );
    };
  }
}
