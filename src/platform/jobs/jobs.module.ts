import { Module } from '@nestjs/common';
import { JobBell } from './job-bell.js';
import { JobCrews } from './job-crews.js';
import { JobErasure } from './job-erasure.js';
import { JobExecution } from './job-execution.js';
import { JobHandlers } from './job-handlers.js';
import { JobRecovery } from './job-recovery.js';
import { JobRunner } from './job-runner.js';
import { JobSchedule } from './job-schedule.js';
import { JobSweep } from './job-sweep.js';
import { JobTimings } from './job.models.js';
import { JobReader } from './job.reader.js';
import { JobStore } from './job.store.js';
import { Jobs } from './jobs.js';
import { SweepJob, Sweeps } from './sweep.job.js';

/** Durable jobs. A room imports this, registers its handlers with `JobHandlers` and enqueues through `Jobs`. */
@Module({
  providers: [
    JobHandlers,
    JobBell,
    JobStore,
    JobReader,
    Jobs,
    JobErasure,
    JobExecution,
    JobRecovery,
    JobTimings,
    JobCrews,
    JobRunner,
    JobSchedule,
    JobSweep,
    SweepJob,
    Sweeps,
  ],
  exports: [JobErasure, JobHandlers, Jobs, Sweeps],
})
export class JobsModule {}
