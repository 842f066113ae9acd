import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../personal-data/personal-data.module.js';
import { AuthModule } from '../../platform/auth/auth.module.js';
import { AuxiliaryModule } from '../auxiliary/auxiliary.module.js';
import { AgentsController } from './agents.controller.js';
import { Agents } from './agents.js';
import { ApiKeysController } from './api-keys.controller.js';
import { Budgets } from './budgets.js';
import { ExecutionSlots } from './execution-slots.js';
import { LearningGate } from './learning-gate.js';
import { LiveTurnModel } from './live-turn-model.js';
import { Members } from './members.js';
import { OrganizationController } from './organization.controller.js';
import { Organizations } from './organizations.js';
import { SlotsController } from './slots.controller.js';
import { UnitChains } from './unit-chains.js';
import { AgentPersonalData } from './agent.personal-data.js';
import { ExecutionSlotPersonalData } from './execution-slot.personal-data.js';

@Module({
  imports: [PersonalDataModule, AuthModule, AuxiliaryModule],
  controllers: [AgentsController, ApiKeysController, OrganizationController, SlotsController],
  providers: [
    AgentPersonalData,
    ExecutionSlotPersonalData,
    Agents,
    Budgets,
    ExecutionSlots,
    LearningGate,
    LiveTurnModel,
    Members,
    Organizations,
    UnitChains,
  ],
  exports: [Agents, Budgets, ExecutionSlots, LearningGate, LiveTurnModel, Members, Organizations, UnitChains],
})
export class OrganizationModule {}
