import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { Database } from '../../platform/database/database.js';
import type { ErasedSubject } from '../personal-data/erased-subject.js';
import { grouped } from '../personal-data/grouped.js';
import { PersonalDataParts } from '../personal-data/personal-data-parts.js';
import type { PersonalTable, Row } from '../personal-data/personal-table.js';
import { PersonalTables } from '../personal-data/personal-tables.js';
import { contentHash } from './content-hash.js';

interface SubjectRow {
  turn_id: string;
  platform: string;
  external_id: string;
  handle: string;
  display_name: string;
}

const REFLECTION_ENDS = ['done', 'skipped', 'dead'];
const OF_AGENT = 'turn_id in (select turn_id from turns where org_id = $1 and agent_id = $2)';

const text = z.string();
const BODY = z.object({
  agent: text,
  role: text,
  task_description: text,
  plan: z.object({ decision: z.enum(['plan', 'direct', 'skip']), summary: text }),
  trigger_event_ids: z.array(text),
  tool_sequence: z.array(text),
  plan_tool_sequence: z.array(text),
  skills_used: z.array(text),
  review_outcome: z.enum(['done', 'failed', 'self_iterate']),
  interactions: z.array(
    z.object({
      platform: text.nullable(),
      external_id: text.nullable(),
      handle: text.nullable(),
      display_name: text.nullable(),
      body: text.nullable(),
      sent_at: text.nullable(),
    }),
  ),
});

const TURNS: PersonalTable = {
  name: 'turns',
  key: { turn_id: 'uuid' },
  origin: 'turn_id',
  texts: ['conversation_id'],
  json: ['body'],
  derive: (row) => (row.body ? { content_hash: contentHash(row.body) } : {}),
  exported: {
    type: 'turn',
    shapes: { body: BODY },
    omit: ['org_id', 'agent_id'],
    values: {
      review_outcome: ['done', 'failed', 'self_iterate'],
      reflection_status: ['pending', 'running', 'retrying', ...REFLECTION_ENDS],
    },
    stamp: stampedTurn,
  },
};

const SUBJECTS: PersonalTable = {
  name: 'turn_subjects',
  key: { turn_id: 'uuid', subject_key: 'text' },
  ofAgent: OF_AGENT,
  origin: 'turn_id',
  derive: ({ platform, external_id, handle, display_name }) => ({
    subject_key: contentHash({ platform, external_id, handle, display_name }),
  }),
  exported: { type: 'turn_subject', omit: ['org_id', 'subject_key'] },
};

/** Posted turns and who spoke in them: what tells an erasure which rows are a person's. */
@Injectable()
export class TurnPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    private readonly store: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(store, [TURNS, SUBJECTS], { stage: 'turns' });
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  override identify = async (orgId: string, subject: ErasedSubject): Promise<void> => {
    const known = await this.known(orgId, subject);
    for (const row of known) if (subject.is(row)) subject.learn(row, row.display_name);
    const turnIds = [...new Set(known.filter((row) => subject.is(row)).map(({ turn_id }) => turn_id))];
    const rows = await this.store.query<SubjectRow>(
      `select * from turn_subjects where org_id = $1 and turn_id = any($2::uuid[])`,
      [orgId, turnIds],
    );
    for (const [turnId, senders] of grouped(rows, (row) => row.turn_id)) subject.spokeIn(turnId, senders);
  };

  /** Rows of mixed turns that name the subject go; the others are somebody else's. */
  override async erase(scope: Parameters<PersonalTables['erase']>[0]): ReturnType<PersonalTables['erase']> {
    const counts = await super.erase(scope);
    if ('agent' in scope) return counts;
    const { orgId, subject } = scope;
    const rows = await this.store.query<SubjectRow & { subject_key: string }>(
      `select * from turn_subjects where org_id = $1 and turn_id = any($2::uuid[])`,
      [orgId, subject.mixedTurnIds],
    );
    const own = rows.filter((row) => subject.is(row));
    await this.store.query(
      `delete from turn_subjects where org_id = $1
         and (turn_id, subject_key) in (select unnest($2::uuid[]), unnest($3::text[]))`,
      [orgId, own.map(({ turn_id }) => turn_id), own.map(({ subject_key }) => subject_key)],
    );
    return { ...counts, turn_subjects: (counts.turn_subjects ?? 0) + own.length };
  }

  private async known(orgId: string, subject: ErasedSubject): Promise<SubjectRow[]> {
    const { externalIds, handles } = subject.identities();
    return this.store.query<SubjectRow>(
      `select known.* from unnest($2::text[]) as wanted(value) join turn_subjects known
         on known.org_id = $1 and md5(btrim(known.external_id)) = md5(wanted.value) and known.external_id <> ''
       union
       select known.* from unnest($3::text[]) as wanted(value) join turn_subjects known
         on known.org_id = $1 and md5(btrim(known.handle)) = md5(wanted.value) and known.handle <> ''`,
      [orgId, externalIds.map(([, value]) => value), handles.map(([, value]) => value)],
    );
  }
}

/** A turn whose reflection was to come has been learned from where it was posted, as far as it was; no job is made for it here. */
function stampedTurn(row: Row): Row {
  const body = row.body as { turn_id?: string } | null;
  const isOpen = !REFLECTION_ENDS.includes(row.reflection_status as string);
  return {
    body: body && { ...body, turn_id: row.turn_id },
    ...(isOpen ? { reflection_status: 'skipped', reflection_reason: 'imported' } : {}),
    reflection_ended_at: row.reflection_ended_at ?? row.received_at,
  };
}
