import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { LearningHealthController } from './learning-health.controller.js';
import { LearningHealth } from './learning-health.js';

@Module({ imports: [OrganizationModule], controllers: [LearningHealthController], providers: [LearningHealth] })
export class LearningHealthModule {}
