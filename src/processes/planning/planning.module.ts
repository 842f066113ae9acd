import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { KnownCounterpartyBlock } from '../../memories/counterparties/known-counterparty.block.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { PersonalMemoryBlock } from '../../memories/diary/personal-memory.block.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { SimilarPriorWorkBlock } from '../../memories/episodes/similar-prior-work.block.js';
import { PlanBlocks } from './plan-blocks.js';
import { PlanContextController } from './plan-context.controller.js';
import { PlanContexts } from './plan-contexts.js';
import { PlanContextsModule } from './plan-contexts.module.js';
import { Planner } from './planner.js';

@Module({
  imports: [AuxiliaryModule, CounterpartiesModule, DiaryModule, EpisodesModule, OrganizationModule, PlanContextsModule],
  controllers: [PlanContextController],
  providers: [
    PlanContexts,
    Planner,
    {
      provide: PlanBlocks,
      inject: [PersonalMemoryBlock, SimilarPriorWorkBlock, KnownCounterpartyBlock],
      useFactory: (...blocks: [PersonalMemoryBlock, SimilarPriorWorkBlock, KnownCounterpartyBlock]) =>
        new PlanBlocks(blocks),
    },
  ],
})
export class PlanningModule {}
