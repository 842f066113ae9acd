import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { JobHandlers } from '../jobs/job-handlers.js';
import {
  type DemandedJob,
  type JobContext,
  type JobHandler,
  type JobOutcome,
  SERVICE_ORG,
} from '../jobs/job.models.js';
import { Jobs } from '../jobs/jobs.js';
import type { JobPayload } from '../jobs/job.models.js';
import { Embeddings } from './embeddings.js';
import { EmbedMissing } from './reembedding.js';

/** While the server is out of reach. */
const SOON_MS = 30_000;

/** Where it works and refuses some texts: it may be configured otherwise some day. */
const LATER_MS = 3_600_000;

/** The job that makes rows without a vector of the current model searchable by meaning. */
@Injectable()
export class EmbedMissingJob implements JobHandler, OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly task = 'embed-missing';
  readonly onDemand = true;
  readonly schedule = { everySeconds: 600, due: () => this.due() };
  private readonly log = new Logger(EmbedMissingJob.name);
  private nextRequestAt = 0;
  private firstLook: Promise<void> = Promise.resolve();

  constructor(
    private readonly embedMissing: EmbedMissing,
    private readonly embeddings: Embeddings,
    private readonly jobs: Jobs,
    private readonly handlers: JobHandlers,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
    this.embeddings.onUnembedded(() => this.afterFailure());
  }

  /** Rows of another model are there after a change of the configuration. Nobody waits for the look: the service serves meanwhile. */
  onApplicationBootstrap(): void {
    this.firstLook = this.look().catch((error: unknown) => {
      this.log.warn(`rows without a vector were not looked for, the schedule will: ${String(error)}`);
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.firstLook;
  }

  private async look(): Promise<void> {
    const tables = await this.embedMissing.pending();
    if (tables.length === 0) return;
    this.log.log(`${tables.join(', ')} hold rows without a vector of ${this.embeddings.model}: embedding them`);
    await this.request();
  }

  /** Has the job run once, however often it is asked for. Joins the running transaction. */
  async request(): Promise<void> {
    await this.jobs.enqueue({ ...JOB, task: this.task });
  }

  async run(_payload: JobPayload, { signal }: JobContext): Promise<JobOutcome> {
    const { embedded, failed } = await this.embedMissing.run(signal);
    if (embedded > 0) this.log.log(`${embedded} rows have a vector of ${this.embeddings.model} now`);
    if (failed === 0) return { status: 'done' };
    const at = new Date(Date.now() + (this.embeddings.outage ? SOON_MS : LATER_MS));
    return { status: 'again', at, reason: `${failed} rows could not be embedded` };
  }

  private async due(): Promise<DemandedJob[]> {
    return (await this.embedMissing.pending()).length > 0 ? [{ ...JOB, ifWaiting: 'keep' }] : [];
  }

  /** A write whose vector failed; a long outage asks once a while, not once a write. */
  private afterFailure(): void {
    if (Date.now() < this.nextRequestAt) return;
    this.nextRequestAt = Date.now() + SOON_MS;
    const job = { ...JOB, task: this.task, runAt: new Date(this.nextRequestAt), ifWaiting: 'keep' as const };
    this.jobs.enqueue(job).catch((error: unknown) => {
      this.log.warn(`embed-missing could not be enqueued, its schedule will: ${String(error)}`);
    });
  }
}

const JOB: DemandedJob = { key: 'embed-missing', payload: { org_id: SERVICE_ORG } };
