import { Injectable, Logger } from '@nestjs/common';
import { JobHandlers } from './job-handlers.js';
import type { JobContext, JobHandler, JobOutcome } from './job.models.js';
import { type HeldJob, JobStore } from './job.store.js';

/** Runs one job and carries out what becomes of it. */
@Injectable()
export class JobExecution {
  private readonly log = new Logger('Jobs');

  constructor(
    private readonly handlers: JobHandlers,
    private readonly store: JobStore,
  ) {}

  /** What this process can run. */
  get tasks(): string[] {
    return this.handlers.all().map(({ task }) => task);
  }

  /** Resolves where the runner may drop the job; throws where it shall try again later. */
  async perform(task: string, job: HeldJob, context: JobContext): Promise<void> {
    const handler = this.handlers.get(task);
    if (!handler) throw new Error(`no handler for the jobs "${task}"`);
    const outcome = await this.outcome(handler, job, context);
    if (outcome.status === 'again') await this.store.putOff(job, outcome.at, outcome.reason);
    if (outcome.status === 'dead') await this.bury(handler, job, outcome.error);
  }

  private async outcome(handler: JobHandler, job: HeldJob, context: JobContext): Promise<JobOutcome> {
    try {
      return (await handler.run(job.payload, context)) ?? { status: 'done' };
    } catch (error) {
      if (context.signal.aborted) return { status: 'again', at: new Date(), reason: 'interrupted by a shutdown' };
      if (context.attempt < context.maxAttempts) throw error;
      return { status: 'dead', error: error instanceof Error ? error.message : String(error) };
    }
  }

  private async bury(handler: JobHandler, job: HeldJob, error: string): Promise<void> {
    await this.store.bury(job, error, async () => {
      await handler.onDead?.(job.payload, error);
    });
    const { org_id: org, agent_id: agent = '-', turn_id: turn = '-' } = job.payload;
    this.log.error(`job ${handler.task} (organisation ${org}, agent ${agent}, turn ${turn}) is dead: ${error}`);
  }
}
