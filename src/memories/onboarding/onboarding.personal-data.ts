import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { Screening } from '../../core/screening/screening.js';
import { Database } from '../../platform/database/database.js';

@Injectable()
export class OnboardingPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
    screening: Screening,
    quarantine: QuarantineStore,
  ) {
    super(
      database,
      [
        {
          name: 'agent_onboarding_markers',
          key: { agent_id: 'uuid' },
          // The summary is of the organisation's pages; that the agent is onboarded stays true without any turn.
          turnLists: ['source_turn_ids'],
          texts: ['summary'],
          exported: {
            type: 'onboarding_marker',
            omit: ['org_id', 'agent_id', 'lease_id', 'lease_until'],
            idLists: ['source_turn_ids'],
            screened: (row) => (row.summary === null ? [] : [row.summary as string]),
          },
        },
      ],
      { boundary: { screening, quarantine } },
    );
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}
