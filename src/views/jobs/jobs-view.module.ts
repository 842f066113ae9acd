import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { JobsController } from './jobs.controller.js';

@Module({ imports: [JobsModule, OrganizationModule], controllers: [JobsController] })
export class JobsViewModule {}
