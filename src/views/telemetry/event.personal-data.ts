import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ErasedSubject } from '../../core/personal-data/erased-subject.js';
import { ERASED } from '../../core/personal-data/name-pattern.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import type { Row } from '../../core/personal-data/personal-table.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { Database } from '../../platform/database/database.js';

/** What was published; telemetry is no memory, so it is not exported. */
@Injectable()
export class EventPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(database, [
      {
        name: 'learning_events',
        key: { id: 'uuid', occurred_at: 'timestamptz' },
        origin: 'turn_id',
        json: ['payload'],
        redact: withoutTheirWords,
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}

/** The summary of a turn in which several spoke holds the words of all. */
function withoutTheirWords(row: Row, subject: ErasedSubject): Row {
  const payload = row.payload as Record<string, unknown> | null;
  if (!subject.isMixed(row.turn_id) || !payload || !('task_summary' in payload)) return {};
  return { payload: { ...payload, task_summary: ERASED } };
}
