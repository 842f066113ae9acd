import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { LookupColleagueTool } from '../../memories/counterparties/lookup-colleague.tool.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { ReflectAndPersistTool } from '../../memories/diary/reflect-and-persist.tool.js';
import { RefreshMemoryTool } from '../../memories/diary/refresh-memory.tool.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { QueryEpisodesTool } from '../../memories/episodes/query-episodes.tool.js';
import { PlanContextsModule } from '../planning/plan-contexts.module.js';
import { ToolDispatch } from './tool-dispatch.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolsController } from './tools.controller.js';

@Module({
  imports: [AuxiliaryModule, CounterpartiesModule, DiaryModule, EpisodesModule, OrganizationModule, PlanContextsModule],
  controllers: [ToolsController],
  providers: [
    ToolDispatch,
    {
      provide: ToolRegistry,
      inject: [QueryEpisodesTool, ReflectAndPersistTool, RefreshMemoryTool, LookupColleagueTool],
      useFactory: (...tools: [QueryEpisodesTool, ReflectAndPersistTool, RefreshMemoryTool, LookupColleagueTool]) =>
        new ToolRegistry(tools),
    },
  ],
})
export class ToolsModule {}
