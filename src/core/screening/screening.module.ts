import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../personal-data/personal-data.module.js';
import { OrganizationModule } from '../organization/organization.module.js';
import { QuarantineController } from './quarantine.controller.js';
import { QuarantineStore } from './quarantine.store.js';
import { QuarantinedWrites } from './quarantined-writes.js';
import { Screening } from './screening.js';
import { QuarantinePersonalData } from './quarantine.personal-data.js';

@Module({
  imports: [PersonalDataModule, OrganizationModule],
  controllers: [QuarantineController],
  providers: [QuarantinePersonalData, QuarantinedWrites, QuarantineStore, Screening],
  exports: [QuarantinedWrites, QuarantineStore, Screening],
})
export class ScreeningModule {}
