import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { RetrievalModule } from '../../core/retrieval/retrieval.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { CounterpartiesController } from './counterparties.controller.js';
import { CounterpartyEditor } from './counterparty.editor.js';
import { CounterpartyIdentities } from './counterparty-identities.js';
import { CounterpartyObservations } from './counterparty-observations.js';
import { CounterpartyProfiler } from './counterparty-profiler.js';
import { CounterpartyProfiles } from './counterparty-profiles.js';
import { CounterpartyReader } from './counterparty-reader.js';
import { KnownCounterpartyBlock } from './known-counterparty.block.js';
import { LookupColleagueTool } from './lookup-colleague.tool.js';
import { ScreenedCounterparties } from './screened-counterparties.js';
import { CounterpartyPersonalData } from './counterparty.personal-data.js';

@Module({
  imports: [PersonalDataModule, AuxiliaryModule, OrganizationModule, RetrievalModule, ScreeningModule],
  controllers: [CounterpartiesController],
  providers: [
    CounterpartyPersonalData,
    CounterpartyEditor,
    CounterpartyIdentities,
    CounterpartyObservations,
    CounterpartyProfiler,
    CounterpartyProfiles,
    CounterpartyReader,
    KnownCounterpartyBlock,
    LookupColleagueTool,
    ScreenedCounterparties,
  ],
  exports: [CounterpartyProfiler, CounterpartyReader, KnownCounterpartyBlock, LookupColleagueTool],
})
export class CounterpartiesModule {}
