import { Module } from '@nestjs/common';
import { LlmModule } from '../../platform/llm/llm.module.js';
import { AuxiliaryModel } from './auxiliary-model.js';
import { UsageMeter } from './usage-meter.js';

@Module({ imports: [LlmModule], providers: [AuxiliaryModel, UsageMeter], exports: [AuxiliaryModel, UsageMeter] })
export class AuxiliaryModule {}
