import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DAY_MS, Sweeps } from '../../platform/jobs/sweep.job.js';
import { TurnStore } from './turn.store.js';

/** Days after its reflection that a turn's body is kept; one whose reflection is dead may still be retried. */
const KEEP_DAYS = 30;
const KEEP_DEAD_DAYS = 90;

@Injectable()
export class TurnSweep implements OnModuleInit {
  constructor(
    private readonly sweeps: Sweeps,
    private readonly turns: TurnStore,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({
      name: 'turn bodies',
      run: (now) =>
        this.turns.sweepBodies({ ended: daysBefore(now, KEEP_DAYS), dead: daysBefore(now, KEEP_DEAD_DAYS) }),
    });
  }
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS);
}
