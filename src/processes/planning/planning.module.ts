import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import type { PlanBlock } from '../../core/turn/extension-points.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { PersonalMemoryBlock } from '../../memories/diary/personal-memory.block.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { SimilarPriorWorkBlock } from '../../memories/episodes/similar-prior-work.block.js';
import { OnboardingBlock } from '../../memories/onboarding/onboarding.block.js';
import { OnboardingModule } from '../../memories/onboarding/onboarding.module.js';
import { ToolSkillsBlock } from '../../memories/tool-skills/tool-skills.block.js';
import { ToolSkillsModule } from '../../memories/tool-skills/tool-skills.module.js';
import { PlanBlocks } from './plan-blocks.js';
import { PlanContextController } from './plan-context.controller.js';
import { PlanContexts } from './plan-contexts.js';
import { PlanContextsModule } from './plan-contexts.module.js';
import { Planner } from './planner.js';

@Module({
  imports: [
    AuxiliaryModule,
    DiaryModule,
    EpisodesModule,
    OnboardingModule,
    OrganizationModule,
    PlanContextsModule,
    ToolSkillsModule,
  ],
  controllers: [PlanContextController],
  providers: [
    PlanContexts,
    Planner,
    {
      provide: PlanBlocks,
      inject: [OnboardingBlock, PersonalMemoryBlock, SimilarPriorWorkBlock, ToolSkillsBlock],
      useFactory: (...blocks: PlanBlock[]) => new PlanBlocks(blocks),
    },
  ],
})
export class PlanningModule {}
