import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { TurnModule } from '../../core/turn/turn.module.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { ReflectionModule } from '../reflection/reflection.module.js';
import { PlanContextsModule } from '../planning/plan-contexts.module.js';
import { Intake } from './intake.js';
import { TurnAnnouncement } from './turn-announcement.js';
import { TurnDrafts } from './turn-drafts.js';
import { TurnFollowUp } from './turn-follow-up.js';
import { TurnReader } from './turn.reader.js';
import { TurnsController } from './turns.controller.js';

@Module({
  imports: [
    OrganizationModule,
    PersonalDataModule,
    TurnModule,
    EpisodesModule,
    LifecycleModule,
    PlanContextsModule,
    ReflectionModule,
  ],
  controllers: [TurnsController],
  providers: [Intake, TurnAnnouncement, TurnDrafts, TurnFollowUp, TurnReader],
})
export class IntakeModule {}
