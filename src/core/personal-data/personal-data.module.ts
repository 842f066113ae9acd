import { Module } from '@nestjs/common';
import { ErasureGate } from './erasure-gate.js';
import { PersonalDataParts } from './personal-data-parts.js';

/** Where rooms say what they keep of agents and people. */
@Module({
  providers: [ErasureGate, PersonalDataParts],
  exports: [ErasureGate, PersonalDataParts],
})
export class PersonalDataModule {}
