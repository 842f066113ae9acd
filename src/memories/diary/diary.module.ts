import { Module, type OnModuleInit } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { embeddedRows } from '../../core/retrieval/embedded-rows.js';
import { RetrievalModule } from '../../core/retrieval/retrieval.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { Database } from '../../platform/database/database.js';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { EmbeddedTables } from '../../platform/embeddings/reembedding.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { AgentDiary } from './agent-diary.js';
import { DiaryController } from './diary.controller.js';
import { DiaryEditor } from './diary.editor.js';
import { DiaryReader } from './diary.reader.js';
import { DiarySweep } from './diary.sweep.js';
import { DocRecommendationsController } from './doc-recommendations.controller.js';
import { DocRecommendations } from './doc-recommendations.js';
import { MemoryFilter } from './memory-filter.js';
import { MemoryRefreshStore } from './memory-refresh.store.js';
import { PersistDecider } from './persist-decider.js';
import { PersonalMemoryBlock } from './personal-memory.block.js';
import { ReflectAndPersistTool } from './reflect-and-persist.tool.js';
import { RefreshMemoryTool } from './refresh-memory.tool.js';
import { ScreenedDiary } from './screened-diary.js';
import { DiaryPersonalData } from './diary.personal-data.js';

@Module({
  imports: [
    PersonalDataModule,
    AuxiliaryModule,
    EmbeddingsModule,
    JobsModule,
    OrganizationModule,
    RetrievalModule,
    ScreeningModule,
  ],
  controllers: [DiaryController, DocRecommendationsController],
  providers: [
    DiaryPersonalData,
    AgentDiary,
    DiaryEditor,
    DiaryReader,
    DiarySweep,
    DocRecommendations,
    MemoryFilter,
    MemoryRefreshStore,
    PersistDecider,
    PersonalMemoryBlock,
    ReflectAndPersistTool,
    RefreshMemoryTool,
    ScreenedDiary,
  ],
  exports: [DiaryReader, PersistDecider, PersonalMemoryBlock, ReflectAndPersistTool, RefreshMemoryTool],
})
export class DiaryModule implements OnModuleInit {
  constructor(
    private readonly tables: EmbeddedTables,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.tables.register(embeddedRows(this.database, { table: 'agent_diary', text: 'content', where: 'live' }));
  }
}
