/** Ids only: a payload never holds text that an erasure would have to find. */
export interface JobPayload {
  /** `SERVICE_ORG` for work that belongs to no organisation. */
  org_id: string;
  agent_id?: string;
  turn_id?: string;
}

/** The organisation of jobs that serve the service as a whole; no key can read them. */
export const SERVICE_ORG = '00000000-0000-0000-0000-000000000000';

export interface JobRequest<Payload extends JobPayload = JobPayload> {
  task: string;
  payload: Payload;
  /** Jobs with the same organisation, task and key are one job; at most 300 characters. */
  key: string;
  /** Jobs of one queue run one after another. At most 128 characters. */
  queue?: string;
  /** @default now */
  runAt?: Date;
  /**
   * What becomes of a job with this key that waits already: `replace` starts it afresh with this request, attempts
   * and all; `keep` leaves it as it is. A running one is followed by a new one either way, a dead one is replaced.
   * @default 'replace'
   */
  ifWaiting?: 'replace' | 'keep';
  /** Attempts before it is dead, 1..100. @default `jobs.max_attempts` */
  maxAttempts?: number;
}

/** What a job says of itself when it did not throw. */
export type JobOutcome =
  | { status: 'done' }
  /** Run it again at `at`; spends no attempt. The reason is shown as `last_error`. */
  | { status: 'again'; at: Date; reason?: string }
  /** Never run it again unless an operator says so; it stays visible as dead. */
  | { status: 'dead'; error: string };

export interface JobContext {
  /** From 1. */
  attempt: number;
  /** At this attempt a throw is the end. */
  maxAttempts: number;
  /** Aborted when the service shuts down: what throws then is run again by the next process and spends no attempt. */
  signal: AbortSignal;
}

/** What an operator's `POST /jobs/:task` starts. */
export type DemandedJob<Payload extends JobPayload = JobPayload> = Omit<JobRequest<Payload>, 'task'>;

export interface JobInterval<Payload extends JobPayload = JobPayload> {
  /** From one time to the next, counted across restarts. */
  everySeconds: number;
  /**
   * Most seconds from a start of the service to the next time, for work that a fresh start may have waiting, e.g. turns
   * of a back-fill. Replicas that start at once, or a service that starts again, bring the same one time forward.
   * @default everySeconds
   */
  firstAfterSeconds?: number;
  due(): Promise<DemandedJob<Payload>[]>;
}

/** One kind of job. A throw is retried with back-off until the attempts are spent. */
export interface JobHandler<Payload extends JobPayload = JobPayload> {
  /** At most 100 characters. */
  readonly task: string;
  run(payload: Payload, context: JobContext): Promise<JobOutcome | void>;

  /**
   * Lets an operator start it by `POST /jobs/:task`. `true`: one job for the organisation, no body. A function makes
   * the job of the body and refuses a wrong one by an ApiError.
   * @default false
   */
  readonly onDemand?: boolean | ((orgId: string, body: Record<string, unknown>) => Promise<DemandedJob<Payload>>);

  /** Has `due()` enqueued from time to time, on one replica. */
  readonly schedule?: JobInterval<Payload>;

  /** Called in the transaction in which a job died, whether it said so or threw at its last attempt. */
  onDead?(payload: Payload, error: string): Promise<void>;

  /** Called in the transaction in which an operator revives a dead job. */
  onRetry?(payload: Payload): Promise<void>;
}

/** `retrying` waits for a further attempt or was put off; `last_error` says why. */
export const JOB_STATUSES = ['pending', 'running', 'retrying', 'dead'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export interface JobView {
  /** Changes when the job is put off. */
  id: string;
  task: string;
  /** Id of the agent. */
  agent: string | null;
  turn_id: string | null;
  status: JobStatus;
  attempts: number;
  run_at: string;
  last_error: string | null;
}

/** How much work of one kind there is, over all organisations. */
export interface JobBacklog {
  task: string;
  status: JobStatus;
  jobs: number;
  /** How long the one that is due longest has waited; 0 where none is due. */
  oldest_seconds: number;
}

/** Periods of the job runner, in milliseconds. */
export class JobTimings {
  /** How often a worker without work asks for some: the bound of the latency where notifications are lost. */
  poll = 1_000;
  /** How long running jobs may take to end at a shutdown before they are given back. */
  grace = 10_000;
  /** How often a process says that it lives and looks for those that do not. */
  heartbeat = 5_000;
  /** Silence after which a process counts as dead and its jobs are given to others. */
  stale = 20_000;
  /** Pause before workers that broke are started anew. */
  restart = 2_000;
}
