import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DAY_MS, Sweeps } from '../../platform/jobs/sweep.job.js';
import { AgentDiary } from './agent-diary.js';
import { MemoryRefreshStore } from './memory-refresh.store.js';

/** Days that an expired memory is still shown to operators, and that a turn's refreshes are kept. */
const KEEP_DAYS = 7;

@Injectable()
export class DiarySweep implements OnModuleInit {
  constructor(
    private readonly sweeps: Sweeps,
    private readonly diary: AgentDiary,
    private readonly refreshes: MemoryRefreshStore,
  ) {}

  onModuleInit(): void {
    const before = (now: Date): Date => new Date(now.getTime() - KEEP_DAYS * DAY_MS);
    this.sweeps.register({ name: 'expired memories', run: (now) => this.diary.deleteExpired(before(now)) });
    this.sweeps.register({ name: 'memory refreshes', run: (now) => this.refreshes.sweep(before(now)) });
  }
}
