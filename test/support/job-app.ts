import { ConsoleLogger, Module, type Provider, type Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { entities } from '../../src/entities.js';
import { ConfigModule } from '../../src/platform/config/config.module.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { JobHandlers } from '../../src/platform/jobs/job-handlers.js';
import { type JobHandler, JobTimings } from '../../src/platform/jobs/job.models.js';
import { JobsModule } from '../../src/platform/jobs/jobs.module.js';
import type { TestAddress } from './test-servers.js';

export interface JobAppOptions {
  address: TestAddress;
  handlers: JobHandler[];
  concurrency?: number;
  maxAttempts?: number;
  timings?: Partial<JobTimings>;
  controllers?: Type[];
  providers?: Provider[];
}

/** One replica that runs jobs and does nothing else, not started yet. Its periods are short. */
export function createJobApp(options: JobAppOptions): Promise<TestingModule> {
  const settings = loadSettings({ env: {}, cwd: '/' });
  settings.jobs.concurrency = options.concurrency ?? 4;
  settings.jobs.max_attempts = options.maxAttempts ?? 25;

  @Module({
    imports: [
      ConfigModule.forRoot(settings),
      DatabaseModule.forRoot({ ...options.address, dataDir: 'memory://', entities }),
      JobsModule,
    ],
    controllers: options.controllers ?? [],
    providers: options.providers ?? [],
  })
  class JobApp {
    constructor(handlers: JobHandlers) {
      for (const handler of options.handlers) handlers.register(handler);
    }
  }
  const timings = { poll: 100, grace: 500, heartbeat: 200, stale: 800, restart: 50, ...options.timings };
  return Test.createTestingModule({ imports: [JobApp] })
    .overrideProvider(JobTimings)
    .useValue(timings)
    .setLogger(new ConsoleLogger({ logLevels: ['fatal'] }))
    .compile();
}

export async function startJobApp(options: JobAppOptions): Promise<TestingModule> {
  const app = await createJobApp(options);
  return app.init();
}
