import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { PersonalDataParts } from '../personal-data/personal-data-parts.js';
import { PersonalTables } from '../personal-data/personal-tables.js';
import { contentHash } from '../turn/content-hash.js';

/** Held writes. They are not exported: what nobody has judged goes to no other place. */
@Injectable()
export class QuarantinePersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [
      {
        name: 'quarantine',
        key: { id: 'uuid' },
        origin: 'turn_id',
        texts: ['content'],
        json: ['payload'],
        derive: (row) => ({ content_hash: contentHash(row.payload) }),
        unique: { columns: ['org_id', 'agent_id', 'kind', 'content_hash'], where: 'true' },
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
