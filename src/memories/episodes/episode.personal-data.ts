import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ErasedSubject } from '../../core/personal-data/erased-subject.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { NO_VECTOR, type Row } from '../../core/personal-data/personal-table.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { openingTokens } from '../../core/retrieval/opening.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { Screening } from '../../core/screening/screening.js';
import { salientText } from '../../core/turn/salient-text.js';
import { TurnStore } from '../../core/turn/turn.store.js';
import { Database } from '../../platform/database/database.js';
import { episodeText } from './episode.store.js';

@Injectable()
export class EpisodePersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    database: Database,
    private readonly parts: PersonalDataParts,
    screening: Screening,
    quarantine: QuarantineStore,
    turns: TurnStore,
  ) {
    super(
      database,
      [
        {
          name: 'episodes',
          key: { id: 'uuid', started_at: 'timestamptz' },
          origin: 'source_turn_ids',
          turn: 'turn_id',
          turnLists: ['exemplar_turn_ids'],
          texts: [
            ...['task_id', 'conversation_id', 'task_summary', 'plan_summary', 'common_task_pattern', 'common_outcome'],
            'notable_patterns',
          ],
          json: ['subjects_involved', 'skills_used'],
          redact: (row, subject) => withoutTheirWords(turns, row, subject),
          derive: derivedEpisode,
          exported: {
            type: 'episode',
            omit: [
              ...['org_id', 'agent_id', 'agent_handle', 'agent_role', 'search', 'search_length', 'opening'],
              ...['embedding', 'embedding_model'],
            ],
            textLists: ['tool_sequence', 'skills_used', 'subjects_involved'],
            idLists: ['exemplar_turn_ids', 'source_turn_ids'],
            values: {
              kind: ['raw', 'compacted'],
              review_outcome: ['done', 'failed', 'self_iterate'],
              plan_decision: ['plan', 'direct', 'skip'],
            },
            // A raw episode is what was said, as a turn posts it; it is withheld from prompts where it is flagged.
            screened: (row) =>
              row.kind === 'raw'
                ? []
                : ([row.common_task_pattern, row.notable_patterns, row.common_outcome].filter(Boolean) as string[]),
            stamp: (_row, { handle, role }) => ({ agent_handle: handle, agent_role: role }),
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

/** What the others said, where the turn's body is still there; else the names alone are gone from what was said. */
async function withoutTheirWords(turns: TurnStore, row: Row, subject: ErasedSubject): Promise<Row> {
  if (row.kind !== 'raw' || !subject.isMixed(row.turn_id)) return {};
  const turn = await turns.find(row.org_id as string, row.turn_id as string);
  if (!turn?.body) return {};
  const body = subject.redactJson(turn.body) as typeof turn.body;
  return { task_summary: salientText(body.interactions, body.task_description) };
}

function derivedEpisode(row: Row): Row {
  const isCompacted = row.kind === 'compacted';
  const text = isCompacted
    ? ((row.common_task_pattern as string | null) ?? '')
    : episodeText({ taskSummary: row.task_summary as string, planSummary: row.plan_summary as string });
  const { search, length } = searchColumns(text);
  const opening = openingTokens((isCompacted ? row.common_task_pattern : row.task_summary) as string).join(' ');
  return { search, search_length: length, opening, ...NO_VECTOR };
}
