import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { JobCrew } from './job-crew.js';
import { bestEffort } from './best-effort.js';
import { JobCrews } from './job-crews.js';
import { JobRecovery } from './job-recovery.js';
import { JobTimings } from './job.models.js';

/** Runs jobs as long as the application does. */
@Injectable()
export class JobRunner implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly log = new Logger('Jobs');
  private crew: JobCrew | null = null;
  private heartbeat: NodeJS.Timeout | undefined;
  private restart: NodeJS.Timeout | undefined;
  /** Starts, restarts and the stop, one after another. */
  private change: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly crews: JobCrews,
    private readonly recovery: JobRecovery,
    private readonly timings: JobTimings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.recovery.atStart();
    await this.start();
    this.heartbeat = setInterval(() => void this.beat(), this.timings.heartbeat);
    this.heartbeat.unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearInterval(this.heartbeat);
    clearTimeout(this.restart);
    await this.change;
    await this.stop();
  }

  private async start(): Promise<void> {
    this.crew = await this.crews.start(() => this.scheduleRestart());
    await this.beat();
  }

  private async stop(): Promise<void> {
    const { crew } = this;
    if (!crew) return;
    this.crew = null;
    await crew.stop(this.timings.grace, async (jobs) => {
      await bestEffort(this.log, 'jobs could not be given back; they are taken over once this process is silent', () =>
        this.recovery.giveBack(crew.workerIds, jobs),
      );
      const names = jobs.map(({ id, task_identifier: task }) => `${task} ${id}`).join(', ');
      this.log.warn(`jobs that did not end in time are given back: ${names}`);
    });
    await bestEffort(this.log, 'the heartbeats of this process stay until they are stale', () =>
      this.recovery.bidFarewell(crew.workerIds),
    );
  }

  private async beat(): Promise<void> {
    if (!this.crew) return;
    try {
      await this.recovery.beat(this.crew.workerIds);
    } catch (error) {
      this.log.warn(`the heartbeat of the job workers failed: ${String(error)}`);
    }
  }

  /** graphile-worker replaces no worker that broke, and the jobs of this process would stay locked while it lives. */
  private scheduleRestart(): void {
    if (this.stopping) return;
    this.restart = setTimeout(() => {
      this.change = this.startAnew();
    }, this.timings.restart);
  }

  private async startAnew(): Promise<void> {
    try {
      await this.stop();
      if (!this.stopping) await this.start();
      this.log.log('the job workers were started anew');
    } catch (error) {
      this.log.warn(`the job workers could not be started anew: ${String(error)}`);
      this.scheduleRestart();
    }
  }
}
