import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { UsageController } from './usage.controller.js';

@Module({ imports: [AuxiliaryModule, OrganizationModule], controllers: [UsageController] })
export class UsageModule {}
