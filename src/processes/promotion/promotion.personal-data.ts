import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ERASED } from '../../core/personal-data/name-pattern.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { Database } from '../../platform/database/database.js';

/**
 * Drafts are what several agents have in common, so erasing one of them leaves the draft; a person is redacted in it. A page
 * that was written already is the knowledge base's, where people erase.
 */
@Injectable()
export class PromotionPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [
      {
        name: 'promotions',
        key: { id: 'uuid' },
        ofAgent: null,
        origin: 'source_turn_ids',
        texts: ['name', 'content', 'reason', 'last_error', 'page_title'],
        redact: ({ name }) => (typeof name === 'string' ? { name: name.replaceAll(ERASED, 'erased') } : {}),
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
