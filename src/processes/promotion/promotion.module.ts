import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { KnowledgeClients } from '../../memories/knowledge/knowledge-clients.js';
import { KnowledgeModule } from '../../memories/knowledge/knowledge.module.js';
import { Settings } from '../../platform/config/settings.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { ClusterDrafting } from './cluster-drafting.js';
import { ConfluencePromotionWriter } from './confluence-promotion-writer.js';
import { DraftPublication } from './draft-publication.js';
import { PlanePromotionWriter } from './plane-promotion-writer.js';
import { PromoteSkillsJob } from './promote-skills.job.js';
import { PromoteUnitSkillsJob } from './promote-unit-skills.job.js';
import { PromotionAuthors } from './promotion-authors.js';
import { PromotionClusters } from './promotion-clusters.js';
import { NoPromotionWriter, PromotionPageWriter } from './promotion-page-writer.js';
import { PromotionStore } from './promotion.store.js';
import { PromotionSynthesizer } from './promotion-synthesizer.js';
import { PromotionUnits } from './promotion-units.js';
import { ScreenedPromotions } from './screened-promotions.js';
import { SkillPromotion } from './skill-promotion.js';

@Module({
  imports: [AuxiliaryModule, JobsModule, KnowledgeModule, OrganizationModule, ScreeningModule],
  providers: [
    ClusterDrafting,
    DraftPublication,
    PromoteSkillsJob,
    PromoteUnitSkillsJob,
    PromotionAuthors,
    PromotionClusters,
    PromotionStore,
    PromotionSynthesizer,
    PromotionUnits,
    ScreenedPromotions,
    SkillPromotion,
    { provide: PromotionPageWriter, inject: [Settings, KnowledgeClients], useFactory: writerOf },
  ],
})
export class PromotionModule {}

function writerOf({ knowledge }: Settings, clients: KnowledgeClients): PromotionPageWriter {
  switch (knowledge.backend) {
    case 'none':
      return new NoPromotionWriter();
    case 'confluence':
      return new ConfluencePromotionWriter(clients);
    case 'plane':
      return new PlanePromotionWriter(clients);
  }
}
