import { Module, type OnModuleInit } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { DAY_MS, Sweeps } from '../../platform/jobs/sweep.job.js';
import { ExecuteContextStore } from './execute-context.store.js';
import { PlanContextStore } from './plan-context.store.js';
import { PlanContextPersonalData } from './plan-context.personal-data.js';

/** Days that the context of a turn is kept. */
const KEEP_DAYS = 7;

/** The stored contexts alone, for the rooms that read them. */
@Module({
  imports: [PersonalDataModule, JobsModule],
  providers: [PlanContextPersonalData, ExecuteContextStore, PlanContextStore],
  exports: [ExecuteContextStore, PlanContextStore],
})
export class PlanContextsModule implements OnModuleInit {
  constructor(
    private readonly sweeps: Sweeps,
    private readonly store: PlanContextStore,
    private readonly executions: ExecuteContextStore,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({
      name: 'plan contexts',
      run: (now) => this.store.sweep(new Date(now.getTime() - KEEP_DAYS * DAY_MS)),
    });
    this.sweeps.register({
      name: 'execute contexts',
      run: (now) => this.executions.sweep(new Date(now.getTime() - KEEP_DAYS * DAY_MS)),
    });
  }
}
