import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { EpisodesModule } from '../episodes/episodes.module.js';
import { ClusterAgentSkillsJob } from './cluster-agent-skills.job.js';
import { ClusterSkillsJob } from './cluster-skills.job.js';
import { CurateSkillsJob } from './curate-skills.job.js';
import { DraftAdmission } from './draft-admission.js';
import { ScreenedDrafts } from './screened-drafts.js';
import { SingleTurnSynthesis } from './single-turn-synthesis.js';
import { SkillClusterVerdicts } from './skill-cluster-verdicts.js';
import { SkillClustering } from './skill-clustering.js';
import { SkillCurator } from './skill-curator.js';
import { SkillGuards } from './skill-guards.js';
import { SkillSynthesizer } from './skill-synthesizer.js';
import { SkillsModule } from './skills.module.js';

/** How skills come to be, and how they age. */
@Module({
  imports: [
    PersonalDataModule,
    AuxiliaryModule,
    EpisodesModule,
    JobsModule,
    OrganizationModule,
    ScreeningModule,
    SkillsModule,
  ],
  providers: [
    ClusterAgentSkillsJob,
    ClusterSkillsJob,
    CurateSkillsJob,
    DraftAdmission,
    ScreenedDrafts,
    SingleTurnSynthesis,
    SkillClusterVerdicts,
    SkillClustering,
    SkillCurator,
    SkillGuards,
    SkillSynthesizer,
  ],
  exports: [SingleTurnSynthesis],
})
export class SkillSynthesisModule {}
