import { Module } from '@nestjs/common';
import { OrganizationModule } from '../organization/organization.module.js';
import { QuarantineController } from './quarantine.controller.js';
import { QuarantineStore } from './quarantine.store.js';
import { QuarantinedWrites } from './quarantined-writes.js';
import { Screening } from './screening.js';

@Module({
  imports: [OrganizationModule],
  controllers: [QuarantineController],
  providers: [QuarantinedWrites, QuarantineStore, Screening],
  exports: [QuarantinedWrites, QuarantineStore, Screening],
})
export class ScreeningModule {}
