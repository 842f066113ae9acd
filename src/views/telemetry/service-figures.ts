import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { EmbeddedTables } from '../../platform/embeddings/reembedding.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import { JOB_STATUSES } from '../../platform/jobs/job.models.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { withDeadline } from '../../platform/outbound/deadline.js';
import type { ServiceMetrics } from './service-metrics.js';

/** Milliseconds that one figure may take: a database that is slow must not keep the other figures from being seen. */
const FIGURE_MS = 2_000;
/** Counted no further: what matters is whether there are some, and many. */
const MOST_UNEMBEDDED = 10_000;

/** Figures that are rows, over all organisations, read when they are asked for: they are the same on every replica. */
@Injectable()
export class ServiceFigures {
  private readonly log = new Logger(ServiceFigures.name);
  private reading: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly jobs: Jobs,
    private readonly handlers: JobHandlers,
    private readonly embeddings: Embeddings,
    private readonly tables: EmbeddedTables,
  ) {}

  /** Sets the gauges; those that cannot be read in time are left empty and counted. Who asks meanwhile shares the answer. */
  read(metrics: ServiceMetrics): Promise<void> {
    this.reading ??= this.readAll(metrics).finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readAll(metrics: ServiceMetrics): Promise<void> {
    await this.figure(metrics, 'jobs', [metrics.jobs, metrics.jobAge], () => this.readJobs(metrics));
    await this.figure(metrics, 'memories', [metrics.memories], () => this.readMemories(metrics));
    await this.figure(metrics, 'episodes', [metrics.episodes], () => this.readEpisodes(metrics));
    await this.figure(metrics, 'unembedded_rows', [metrics.unembedded], () => this.readUnembedded(metrics));
  }

  private async figure(
    metrics: ServiceMetrics,
    figure: string,
    gauges: readonly { reset(): void }[],
    read: () => Promise<() => void>,
  ): Promise<void> {
    for (const gauge of gauges) gauge.reset();
    try {
      const set = await withDeadline(FIGURE_MS, undefined, () =>
        this.database.transaction(async () => {
          await this.database.query(`set local statement_timeout = ${FIGURE_MS}`);
          return read();
        }),
      );
      set();
    } catch (error) {
      metrics.figureFailures.inc({ figure });
      this.log.warn(`the figure ${figure} is missing: ${String(error)}`);
    }
  }

  /** Tasks and states without a job are shown as 0, so that an alert on dead jobs has something to look at. */
  private async readJobs(metrics: ServiceMetrics): Promise<() => void> {
    const backlog = await this.jobs.backlog();
    return () => {
      for (const { task } of this.handlers.all()) {
        for (const status of JOB_STATUSES) metrics.jobs.set({ task, status }, 0);
        metrics.jobAge.set({ task }, 0);
      }
      for (const { task, status, jobs } of backlog) metrics.jobs.set({ task, status }, jobs);
      for (const task of new Set(backlog.map((row) => row.task))) {
        const ages = backlog.filter((row) => row.task === task).map((row) => row.oldest_seconds);
        metrics.jobAge.set({ task }, Math.max(...ages));
      }
    };
  }

  private async readMemories({ memories }: ServiceMetrics): Promise<() => void> {
    const rows = await this.database.query<{ kind: string; count: number }>(
      `select kind, count(*)::int as count from agent_diary
       where live and superseded_by is null and (ttl_until is null or ttl_until > $1) group by kind`,
      [new Date()],
    );
    return () => {
      for (const kind of ['diary_long', 'diary_short']) memories.set({ kind }, 0);
      for (const { kind, count } of rows) memories.set({ kind }, count);
    };
  }

  private async readEpisodes({ episodes }: ServiceMetrics): Promise<() => void> {
    const rows = await this.database.query<{ kind: string; count: number }>(
      `select kind, count(*)::int as count from episodes group by kind`,
    );
    return () => {
      for (const kind of ['raw', 'compacted']) episodes.set({ kind }, 0);
      for (const { kind, count } of rows) episodes.set({ kind }, count);
    };
  }

  private async readUnembedded({ unembedded }: ServiceMetrics): Promise<() => void> {
    const { model } = this.embeddings;
    const counts: [table: string, rows: number][] = [];
    for (const rows of model === null ? [] : this.tables.all()) {
      counts.push([rows.table, await rows.backlog(model!, MOST_UNEMBEDDED)]);
    }
    return () => counts.forEach(([table, rows]) => unembedded.set({ table }, rows));
  }
}
