import { Module, type OnModuleInit } from '@nestjs/common';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { embeddedRows } from '../../core/retrieval/embedded-rows.js';
import { RetrievalModule } from '../../core/retrieval/retrieval.module.js';
import { TurnModule } from '../../core/turn/turn.module.js';
import { Database } from '../../platform/database/database.js';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { EmbeddedTables } from '../../platform/embeddings/reembedding.js';
import { CompactedEpisodes } from './compacted-episodes.js';
import { EpisodeConsolidation } from './episode-consolidation.js';
import { EpisodeRecall } from './episode-recall.js';
import { EpisodeStore, EPISODE_TEXT_SQL } from './episode.store.js';
import { EpisodeSummary } from './episode-summary.js';
import { EpisodeTrajectories } from './episode-trajectories.js';
import { EpisodesController } from './episodes.controller.js';
import { QueryEpisodesTool } from './query-episodes.tool.js';
import { RawEpisodes } from './raw-episodes.js';
import { SimilarPriorWorkBlock } from './similar-prior-work.block.js';
import { EpisodePersonalData } from './episode.personal-data.js';

@Module({
  imports: [
    PersonalDataModule,
    ScreeningModule,
    AuxiliaryModule,
    EmbeddingsModule,
    OrganizationModule,
    RetrievalModule,
    TurnModule,
  ],
  controllers: [EpisodesController],
  providers: [
    EpisodePersonalData,
    CompactedEpisodes,
    EpisodeConsolidation,
    EpisodeRecall,
    EpisodeStore,
    EpisodeSummary,
    EpisodeTrajectories,
    QueryEpisodesTool,
    RawEpisodes,
    SimilarPriorWorkBlock,
  ],
  exports: [
    CompactedEpisodes,
    EpisodeConsolidation,
    EpisodeRecall,
    EpisodeStore,
    EpisodeTrajectories,
    QueryEpisodesTool,
    RawEpisodes,
    SimilarPriorWorkBlock,
  ],
})
export class EpisodesModule implements OnModuleInit {
  constructor(
    private readonly tables: EmbeddedTables,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.tables.register(embeddedRows(this.database, { table: 'episodes', text: EPISODE_TEXT_SQL }));
  }
}
