import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { PersonalDataParts } from '../personal-data/personal-data-parts.js';
import { PersonalTables } from '../personal-data/personal-tables.js';

/** Who works at the moment, and who waits to. */
@Injectable()
export class ExecutionSlotPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [
      {
        name: 'execution_slots',
        key: { id: 'uuid' },
        ofAgent: OF_AGENT,
        origin: 'turn_id',
      },
      {
        name: 'execution_slot_waits',
        key: { turn_id: 'uuid' },
        ofAgent: OF_AGENT,
        origin: 'turn_id',
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}

/** Learning that belongs to no single turn waits under the id of its agent. */
const OF_AGENT = '(turn_id = $2 or turn_id in (select turn_id from turns where org_id = $1 and agent_id = $2))';
