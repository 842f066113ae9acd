import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import type { PlanBlock } from '../../core/turn/extension-points.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { KnownCounterpartyBlock } from '../../memories/counterparties/known-counterparty.block.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { PersonalMemoryBlock } from '../../memories/diary/personal-memory.block.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { SimilarPriorWorkBlock } from '../../memories/episodes/similar-prior-work.block.js';
import { KnowledgeModule } from '../../memories/knowledge/knowledge.module.js';
import { RelevantKnowledgeBlock } from '../../memories/knowledge/relevant-knowledge.block.js';
import { OnboardingBlock } from '../../memories/onboarding/onboarding.block.js';
import { OnboardingModule } from '../../memories/onboarding/onboarding.module.js';
import { SkillsModule } from '../../memories/skills/skills.module.js';
import { SynthesizedSkillsBlock } from '../../memories/skills/synthesized-skills.block.js';
import { ToolSkillsBlock } from '../../memories/tool-skills/tool-skills.block.js';
import { ToolSkillsModule } from '../../memories/tool-skills/tool-skills.module.js';
import { ExecuteContextController } from './execute-context.controller.js';
import { ExecuteContexts } from './execute-contexts.js';
import { FrozenContexts } from './frozen-contexts.js';
import { PlanBlocks } from './plan-blocks.js';
import { PlanContextController } from './plan-context.controller.js';
import { PlanContexts } from './plan-contexts.js';
import { PlanContextsModule } from './plan-contexts.module.js';
import { Planner } from './planner.js';
import { PostPlanKnowledge } from './post-plan-knowledge.js';

@Module({
  imports: [
    AuxiliaryModule,
    CounterpartiesModule,
    DiaryModule,
    EpisodesModule,
    KnowledgeModule,
    OnboardingModule,
    OrganizationModule,
    PersonalDataModule,
    PlanContextsModule,
    SkillsModule,
    ToolSkillsModule,
  ],
  controllers: [ExecuteContextController, PlanContextController],
  providers: [
    ExecuteContexts,
    FrozenContexts,
    PlanContexts,
    Planner,
    PostPlanKnowledge,
    {
      provide: PlanBlocks,
      inject: [
        OnboardingBlock,
        PersonalMemoryBlock,
        SynthesizedSkillsBlock,
        RelevantKnowledgeBlock,
        SimilarPriorWorkBlock,
        KnownCounterpartyBlock,
        ToolSkillsBlock,
      ],
      useFactory: (...blocks: PlanBlock[]) => new PlanBlocks(blocks),
    },
  ],
})
export class PlanningModule {}
