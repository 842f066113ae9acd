import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import type { AgentTool } from '../../core/turn/extension-points.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { LookupColleagueTool } from '../../memories/counterparties/lookup-colleague.tool.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { ReflectAndPersistTool } from '../../memories/diary/reflect-and-persist.tool.js';
import { RefreshMemoryTool } from '../../memories/diary/refresh-memory.tool.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { QueryEpisodesTool } from '../../memories/episodes/query-episodes.tool.js';
import { MarkOnboardedTool } from '../../memories/onboarding/mark-onboarded.tool.js';
import { OnboardingModule } from '../../memories/onboarding/onboarding.module.js';
import { RefineSkillTool } from '../../memories/skills/refine-skill.tool.js';
import { SkillsModule } from '../../memories/skills/skills.module.js';
import { UseSkillTool } from '../../memories/skills/use-skill.tool.js';
import { LoadToolSkillTool } from '../../memories/tool-skills/load-tool-skill.tool.js';
import { ToolSkillsModule } from '../../memories/tool-skills/tool-skills.module.js';
import { PlanContextsModule } from '../planning/plan-contexts.module.js';
import { ToolDispatch } from './tool-dispatch.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolsController } from './tools.controller.js';

@Module({
  imports: [
    AuxiliaryModule,
    CounterpartiesModule,
    DiaryModule,
    EpisodesModule,
    OnboardingModule,
    OrganizationModule,
    PlanContextsModule,
    SkillsModule,
    ToolSkillsModule,
  ],
  controllers: [ToolsController],
  providers: [
    ToolDispatch,
    {
      provide: ToolRegistry,
      inject: [
        QueryEpisodesTool,
        ReflectAndPersistTool,
        RefreshMemoryTool,
        UseSkillTool,
        RefineSkillTool,
        LookupColleagueTool,
        MarkOnboardedTool,
        LoadToolSkillTool,
      ],
      useFactory: (...tools: AgentTool[]) => new ToolRegistry(tools),
    },
  ],
})
export class ToolsModule {}
