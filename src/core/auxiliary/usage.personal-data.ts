import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { PersonalDataParts } from '../personal-data/personal-data-parts.js';
import { PersonalTables } from '../personal-data/personal-tables.js';

/** What an agent's model calls used; it names no person. */
@Injectable()
export class UsagePersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [{ name: 'llm_usage', key: { day: 'date', worker: 'text', provider: 'text' } }]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
