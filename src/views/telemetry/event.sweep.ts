import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { DAY_MS, Sweeps } from '../../platform/jobs/sweep.job.js';
import { EventStore } from './event.store.js';

@Injectable()
export class EventSweep implements OnModuleInit {
  constructor(
    private readonly sweeps: Sweeps,
    private readonly store: EventStore,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const days = this.settings.telemetry.event_retention_days;
    this.sweeps.register({
      name: 'events',
      run: (now) => this.store.sweep(new Date(now.getTime() - days * DAY_MS)),
    });
  }
}
