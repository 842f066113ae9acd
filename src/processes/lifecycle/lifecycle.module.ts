import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { EpisodesModule } from '../../memories/episodes/episodes.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { ClusterCompaction } from './cluster-compaction.js';
import { CompactEpisodesJob } from './compact-episodes.job.js';
import { CompactionQueue } from './compaction.queue.js';
import { CompactionPasses } from './compaction-passes.js';
import { EpisodeCompactor } from './episode-compactor.js';
import { EpisodeLifecycleWorker } from './episode-lifecycle-worker.js';
import { LifecycleAgents } from './lifecycle-agents.js';
import { LifecycleDrops } from './lifecycle-drops.js';
import { LifecyclePasses } from './lifecycle-passes.js';
import { OldEpisodes } from './old-episodes.js';
import { StorageBound } from './storage-bound.js';
import { CompactionPersonalData } from './compaction.personal-data.js';

@Module({
  imports: [PersonalDataModule, AuxiliaryModule, EpisodesModule, JobsModule, OrganizationModule, ScreeningModule],
  providers: [
    CompactionPersonalData,
    ClusterCompaction,
    CompactEpisodesJob,
    CompactionPasses,
    CompactionQueue,
    EpisodeCompactor,
    EpisodeLifecycleWorker,
    LifecycleAgents,
    LifecycleDrops,
    LifecyclePasses,
    OldEpisodes,
    StorageBound,
  ],
  exports: [CompactionQueue],
})
export class LifecycleModule {}
