import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DAY_MS, Sweeps } from '../../platform/jobs/sweep.job.js';
import { TurnStore } from './turn.store.js';

/** Days after its reflection that a turn's body is kept. */
const KEEP_DAYS = 30;

@Injectable()
export class TurnSweep implements OnModuleInit {
  constructor(
    private readonly sweeps: Sweeps,
    private readonly turns: TurnStore,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({
      name: 'turn bodies',
      run: (now) => this.turns.sweepBodies(new Date(now.getTime() - KEEP_DAYS * DAY_MS)),
    });
  }
}
