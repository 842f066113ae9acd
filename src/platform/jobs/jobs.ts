import { Injectable } from '@nestjs/common';
import { ApiError } from '../http/api-error.js';
import { invalidRequest } from '../http/validation.pipe.js';
import { JobHandlers } from './job-handlers.js';
import type { JobBacklog, JobRequest, JobView } from './job.models.js';
import { type JobFilter, type JobPage, JobReader } from './job.reader.js';
import { JobStore } from './job.store.js';

/** Durable work in the background: enqueued in the caller's transaction, run once by whichever replica is free. */
@Injectable()
export class Jobs {
  constructor(
    private readonly store: JobStore,
    private readonly reader: JobReader,
    private readonly handlers: JobHandlers,
  ) {}

  /** Joins the running transaction: the job exists if that commits. Answers with its id. */
  enqueue(request: JobRequest): Promise<string> {
    return this.store.add(request);
  }

  /** The organisation's jobs, newest first. */
  list(filter: JobFilter): Promise<JobPage> {
    return this.reader.list(filter);
  }

  /** What there is to do over all organisations, for metrics. */
  backlog(): Promise<JobBacklog[]> {
    return this.reader.backlog();
  }

  /**
   * Starts a job now on an operator's behalf.
   * @throws ApiError 404 `job.unknown_task` where no handler lets an operator do so, or what the handler refuses
   */
  async demand(orgId: string, task: string, body: Record<string, unknown>): Promise<string> {
    const onDemand = this.handlers.get(task)?.onDemand;
    if (!onDemand) throw new ApiError(404, 'job.unknown_task', `There is no job "${task}" to start.`);
    if (typeof onDemand === 'function') return this.enqueue({ ...(await onDemand(orgId, body)), task });
    const unknown = Object.keys(body).map((path) => ({ path, message: 'is not known: this job takes no options' }));
    if (unknown.length > 0) throw invalidRequest(unknown);
    return this.enqueue({ task, key: 'organization', payload: { org_id: orgId } });
  }

  /**
   * Runs a dead job again from its first attempt; its handler's `onRetry` joins the transaction. Null where the
   * organisation has no such job.
   * @throws ApiError 409 `job.not_dead` where it is not dead
   */
  async retry(orgId: string, id: string): Promise<JobView | null> {
    const job = await this.reader.find(orgId, id);
    if (!job) return null;
    const revived = await this.store.revive(id, async (payload) => {
      await this.handlers.get(job.task)?.onRetry?.(payload);
    });
    if (!revived) {
      const status = (await this.reader.find(orgId, id))?.status ?? 'gone';
      throw new ApiError(
        409,
        'job.not_dead',
        `The job ${id} was not dead: only a dead one can be retried. It is ${status}.`,
      );
    }
    return this.reader.find(orgId, id);
  }
}
