import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { DatabaseConnection } from '../database/connection.js';
import { graphileLogger } from './graphile-logger.js';
import { JobBell } from './job-bell.js';
import { JobCrew } from './job-crew.js';
import { JobExecution } from './job-execution.js';
import { JobTimings } from './job.models.js';

/** Starts workers as the service is configured. */
@Injectable()
export class JobCrews {
  private readonly logger = graphileLogger(new Logger('Jobs'));

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly settings: Settings,
    private readonly execution: JobExecution,
    private readonly timings: JobTimings,
    private readonly bell: JobBell,
  ) {}

  /** `onBroken` is called once if a worker breaks. Throws where the database cannot be reached. */
  async start(onBroken: () => void): Promise<JobCrew> {
    const crew = await JobCrew.start({
      connection: this.connection,
      tasks: this.execution.tasks,
      concurrency: this.settings.jobs.concurrency,
      pollInterval: this.timings.poll,
      logger: this.logger,
      perform: (task, job, context) => this.execution.perform(task, job, context),
      onBroken,
    });
    this.bell.onRing(() => crew.nudge());
    return crew;
  }
}
