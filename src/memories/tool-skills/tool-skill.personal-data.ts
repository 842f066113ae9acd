import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { Database } from '../../platform/database/database.js';

/** Guidance that operators write for a whole organisation: it is no agent's, and may name people all the same. */
@Injectable()
export class ToolSkillPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [
      { name: 'tool_skills', key: { key: 'text' }, ofAgent: null, texts: ['title', 'summary', 'body'] },
      // A copy of a page; where the page goes on naming somebody, its next refresh brings the name back.
      {
        name: 'tool_skill_pages',
        key: { source: 'text', place: 'text', page_id: 'text' },
        ofAgent: null,
        texts: ['problem'],
        json: ['skill'],
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
