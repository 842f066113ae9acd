/** Ids only: a payload never holds text that an erasure would have to find. */
export interface JobPayload {
  org_id: string;
  agent_id?: string;
  turn_id?: string;
}

export interface JobRequest<Payload extends JobPayload = JobPayload> {
  task: string;
  payload: Payload;
  /** Jobs with the same key are one job; adding it again replaces the waiting one, or follows the running one. */
  key: string;
  /** Jobs of one queue run one after another. */
  queue?: string;
  /** @default now */
  runAt?: Date;
}

/** What a job says of itself when it did not throw. */
export type JobOutcome =
  | { status: 'done' }
  /** Run it again at `at`; spends no attempt. */
  | { status: 'again'; at: Date; reason: string }
  /** Never run it again unless an operator says so; it stays visible as dead. */
  | { status: 'dead'; error: string };

export interface JobContext {
  attempt: number;
  /** Aborted when the service shuts down. */
  signal: AbortSignal;
}

/** One kind of job. A throw is retried with back-off until the attempts are spent. */
export interface JobHandler<Payload extends JobPayload = JobPayload> {
  readonly task: string;
  /** What an operator may start by `POST /jobs/:task`. @default false */
  readonly onDemand?: boolean;
  run(payload: Payload, context: JobContext): Promise<JobOutcome | void>;
  /** Called in the transaction in which an operator revives a dead job. */
  onRetry?(payload: Payload): Promise<void>;
}

export type JobStatus = 'pending' | 'running' | 'retrying' | 'dead';

export interface JobView {
  id: string;
  task: string;
  agent_id: string | null;
  turn_id: string | null;
  status: JobStatus;
  attempts: number;
  run_at: string;
  last_error: string | null;
}
