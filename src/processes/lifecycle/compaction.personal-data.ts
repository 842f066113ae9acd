import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { Database } from '../../platform/database/database.js';

/** How far the pass over an agent's episodes has come; it names no person. */
@Injectable()
export class CompactionPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [{ name: 'compaction_passes', key: { agent_id: 'uuid' } }]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
