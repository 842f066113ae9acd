import { Module } from '@nestjs/common';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { TurnStore } from './turn.store.js';
import { TurnSweep } from './turn.sweep.js';

@Module({ imports: [JobsModule], providers: [TurnStore, TurnSweep], exports: [TurnStore] })
export class TurnModule {}
