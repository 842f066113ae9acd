import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../personal-data/personal-data.module.js';
import { LlmModule } from '../../platform/llm/llm.module.js';
import { AuxiliaryModel } from './auxiliary-model.js';
import { UsageMeter } from './usage-meter.js';
import { UsagePersonalData } from './usage.personal-data.js';

@Module({
  imports: [PersonalDataModule, LlmModule],
  providers: [UsagePersonalData, AuxiliaryModel, UsageMeter],
  exports: [AuxiliaryModel, UsageMeter],
})
export class AuxiliaryModule {}
