import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { TurnModule } from '../../core/turn/turn.module.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { ReflectionModule } from '../reflection/reflection.module.js';
import { Intake } from './intake.js';
import { TurnReader } from './turn.reader.js';
import { TurnsController } from './turns.controller.js';

@Module({
  imports: [OrganizationModule, TurnModule, EpisodesModule, ReflectionModule],
  controllers: [TurnsController],
  providers: [Intake, TurnReader],
})
export class IntakeModule {}
