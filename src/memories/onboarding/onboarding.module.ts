import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { MarkOnboardedTool } from './mark-onboarded.tool.js';
import { OnboardingBlock } from './onboarding.block.js';
import { OnboardingController } from './onboarding.controller.js';
import { OnboardingMarkers } from './onboarding-markers.js';
import { ScreenedOnboarding } from './screened-onboarding.js';
import { OnboardingPersonalData } from './onboarding.personal-data.js';

@Module({
  imports: [PersonalDataModule, OrganizationModule, ScreeningModule],
  controllers: [OnboardingController],
  providers: [OnboardingPersonalData, MarkOnboardedTool, OnboardingBlock, OnboardingMarkers, ScreenedOnboarding],
  exports: [MarkOnboardedTool, OnboardingBlock],
})
export class OnboardingModule {}
