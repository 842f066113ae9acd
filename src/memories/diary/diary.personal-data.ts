import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { NO_VECTOR, type PersonalTable, type Row } from '../../core/personal-data/personal-table.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { Screening } from '../../core/screening/screening.js';
import { Database } from '../../platform/database/database.js';
import { hashOf } from './diary.models.js';

const DIARY: PersonalTable = {
  name: 'agent_diary',
  key: { id: 'uuid' },
  origin: 'source_turn_ids',
  texts: ['content', 'conversation_id'],
  json: ['metadata'],
  derive: derivedMemory,
  unique: { columns: ['org_id', 'agent_id', 'content_hash'], where: 'live' },
  exported: {
    type: 'diary',
    omit: ['org_id', 'agent_id', 'content_hash', 'search', 'search_length', 'embedding', 'embedding_model'],
    idLists: ['source_turn_ids'],
    screened: (row) => [row.content as string, JSON.stringify(row.metadata)],
    stamp: () => ({ source: 'import' }),
  },
};

const DOC_RECOMMENDATIONS: PersonalTable = {
  name: 'doc_recommendations',
  key: { id: 'uuid' },
  origin: 'source_turn_ids',
  texts: ['content', 'target_hint', 'rationale'],
  exported: {
    type: 'doc_recommendation',
    omit: ['org_id', 'agent_id'],
    idLists: ['source_turn_ids'],
    screened: (row) => [row.content, row.target_hint, row.rationale].filter((text) => text !== null) as string[],
  },
};

/** Served to one turn and swept after a week, so it is not exported. */
const MEMORY_REFRESHES: PersonalTable = {
  name: 'memory_refreshes',
  key: { agent_id: 'uuid', turn_id: 'uuid', hint_hash: 'text' },
  origin: 'turn_id',
  texts: ['output'],
  json: ['data'],
};

@Injectable()
export class DiaryPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
    screening: Screening,
    quarantine: QuarantineStore,
  ) {
    super(database, [DIARY, DOC_RECOMMENDATIONS, MEMORY_REFRESHES], { boundary: { screening, quarantine } });
  }

  onModuleInit(): void {
    this.parts.register(this);
  }
}

function derivedMemory(row: Row): Row {
  const { search, length } = searchColumns(row.content as string);
  return { content_hash: hashOf(row.content as string), search, search_length: length, ...NO_VECTOR };
}
