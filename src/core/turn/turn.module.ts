import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../personal-data/personal-data.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { OpenReflections } from './open-reflections.js';
import { TurnStore } from './turn.store.js';
import { TurnSweep } from './turn.sweep.js';
import { TurnPersonalData } from './turn.personal-data.js';

@Module({
  imports: [PersonalDataModule, JobsModule],
  providers: [TurnPersonalData, OpenReflections, TurnStore, TurnSweep],
  exports: [OpenReflections, TurnStore],
})
export class TurnModule {}
