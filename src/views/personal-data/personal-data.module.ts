import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { AgentExport } from './agent-export.js';
import { AgentImport } from './agent-import.js';
import { Eraser } from './eraser.js';
import { ErasureFollowUp } from './erasure-follow-up.js';
import { ImportedLines } from './imported-lines.js';
import { PersonalDataController } from './personal-data.controller.js';

@Module({
  imports: [EmbeddingsModule, JobsModule, OrganizationModule, PersonalDataModule, ScreeningModule],
  controllers: [PersonalDataController],
  providers: [AgentExport, AgentImport, Eraser, ErasureFollowUp, ImportedLines],
})
export class PersonalDataViewModule {}
