import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { Settings } from '../../platform/config/settings.js';
import { ConfluenceSearcher } from './confluence.searcher.js';
import { KnowledgeClients } from './knowledge-clients.js';
import { KnowledgeQueryWriter } from './knowledge-query.js';
import { KnowledgeSearcher, NoKnowledgeSearcher } from './knowledge.models.js';
import { PlaneSearcher } from './plane.searcher.js';
import { RelevantKnowledge } from './relevant-knowledge.js';
import { RelevantKnowledgeBlock } from './relevant-knowledge.block.js';

@Module({
  imports: [AuxiliaryModule, OrganizationModule],
  providers: [
    KnowledgeClients,
    KnowledgeQueryWriter,
    RelevantKnowledge,
    RelevantKnowledgeBlock,
    { provide: KnowledgeSearcher, inject: [Settings, KnowledgeClients], useFactory: searcherOf },
  ],
  exports: [KnowledgeClients, RelevantKnowledge, RelevantKnowledgeBlock],
})
export class KnowledgeModule {}

function searcherOf(settings: Settings, clients: KnowledgeClients): KnowledgeSearcher {
  switch (settings.knowledge.backend) {
    case 'none':
      return new NoKnowledgeSearcher();
    case 'confluence':
      return new ConfluenceSearcher(clients, settings);
    case 'plane':
      return new PlaneSearcher(clients, settings);
  }
}
