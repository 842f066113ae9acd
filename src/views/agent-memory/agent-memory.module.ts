import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { SkillsModule } from '../../memories/skills/skills.module.js';
import { AgentMemoryController } from './agent-memory.controller.js';
import { AgentMemory } from './agent-memory.js';

@Module({
  imports: [CounterpartiesModule, DiaryModule, EpisodesModule, OrganizationModule, SkillsModule],
  controllers: [AgentMemoryController],
  providers: [AgentMemory],
})
export class AgentMemoryModule {}
