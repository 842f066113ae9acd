import { Module } from '@nestjs/common';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { OpenReflections } from './open-reflections.js';
import { TurnStore } from './turn.store.js';
import { TurnSweep } from './turn.sweep.js';

@Module({
  imports: [JobsModule],
  providers: [OpenReflections, TurnStore, TurnSweep],
  exports: [OpenReflections, TurnStore],
})
export class TurnModule {}
