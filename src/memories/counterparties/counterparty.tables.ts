import { z } from 'zod';
import type { ImportContext, ImportOutcome } from '../../core/personal-data/personal-data.models.js';
import type { PersonalTable, Row } from '../../core/personal-data/personal-table.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import type { Database } from '../../platform/database/database.js';
import { keyOf } from './counterparty-identities.js';
import { wordsOf } from './counterparty-observations.js';
import type { Traits } from './trait-folding.js';

const TRAIT_VALUES = z.record(z.string(), z.array(z.string()));
const TRAITS = z.record(
  z.string(),
  z.array(
    z.object({ value: z.string(), count: z.number().int().positive(), last_seen_at: z.iso.datetime({ offset: true }) }),
  ),
);

/**
 * How the tables of counterparties are erased and moved. Names of other people stay as they are in their own rows, though they be
 * the same; what was observed of them loses the name.
 */
export function counterpartyTables(database: Database): PersonalTable[] {
  return [
    {
      name: 'counterparty_profiles',
      key: { id: 'uuid' },
      json: ['traits'],
      derive: (row) => foundBy(database, row),
      exported: {
        type: 'counterparty_profile',
        shapes: { traits: TRAITS },
        omit: ['org_id', 'agent_id', 'search', 'search_length'],
        screened: (row) => [row.subject_name as string, ...textsIn(row.traits)],
        admit: (row, context) => unlessKnown(database, row, context),
      },
    },
    {
      name: 'counterparty_identities',
      key: { agent_id: 'uuid', identity_key: 'text' },
      derive: ({ platform, kind, value }) => ({
        identity_key: keyOf(platform as string, kind as 'handle' | 'external_id', value as string),
      }),
      exported: {
        type: 'counterparty_identity',
        omit: ['org_id', 'agent_id', 'identity_key'],
        values: { kind: ['external_id', 'handle'] },
        admit: (row, context) => withItsProfile(database, row, context),
      },
    },
    {
      name: 'counterparty_observations',
      key: { id: 'uuid' },
      json: ['traits', 'no_longer'],
      turnLists: ['source_turn_ids'],
      exported: {
        type: 'counterparty_observation',
        shapes: { traits: TRAIT_VALUES, no_longer: TRAIT_VALUES },
        omit: ['org_id', 'agent_id'],
        idLists: ['source_turn_ids'],
        idTexts: ['trigger_key'],
        values: { source: ['profiler', 'operator', 'import'] },
        screened: (row) => [...textsIn(row.traits), ...textsIn(row.no_longer)],
        admit: (row, context) => withItsProfile(database, row, context),
      },
    },
    {
      name: 'counterparty_interactions',
      key: { profile_id: 'uuid', trigger_key: 'text' },
      exported: {
        type: 'counterparty_interaction',
        omit: ['org_id', 'agent_id'],
        idTexts: ['trigger_key'],
        admit: (row, context) => withItsProfile(database, row, context),
      },
    },
  ];
}

async function foundBy(database: Database, row: Row): Promise<Row> {
  const others = await database.query<{ platform: string; value: string }>(
    `select platform, value from counterparty_identities where org_id = $1 and agent_id = $2 and profile_id = $3`,
    [row.org_id, row.agent_id, row.id],
  );
  const names = [row.subject_name, row.subject_platform, row.subject_external_id, row.subject_handle];
  const all = [...names, ...others.flatMap(({ platform, value }) => [platform, value])].join(' ');
  const { search, length } = searchColumns(`${all}\n${wordsOf(row.traits as Traits)}`);
  return { search, search_length: length };
}

/** Two profiles are never merged by a file: an observer who knows the person already keeps what it knows. */
async function unlessKnown(database: Database, row: Row, context: ImportContext): Promise<ImportOutcome | null> {
  const platform = row.subject_platform as string;
  const keys = (['external_id', 'handle'] as const).flatMap((kind) => {
    const value = row[`subject_${kind}`] as string;
    return value === '' || row.linked_to !== null ? [] : [keyOf(platform, kind, value)];
  });
  const [known] = await database.query(
    `select 1 from counterparty_identities
     where org_id = $1 and agent_id = $2 and identity_key = any($3::text[]) and profile_id <> $4
       and not exists (select from counterparty_profiles where id = $4)`,
    [context.orgId, context.agentId, keys, row.id],
  );
  return known ? { status: 'skipped', reason: 'known_already' } : null;
}

async function withItsProfile(database: Database, row: Row, context: ImportContext): Promise<ImportOutcome | null> {
  const [profile] = await database.query(
    `select 1 from counterparty_profiles where org_id = $1 and agent_id = $2 and id = $3`,
    [context.orgId, context.agentId, row.profile_id],
  );
  return profile ? null : { status: 'skipped', reason: 'without_its_profile' };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) =>
    Array.isArray(value) ? textsIn(item) : [key, ...textsIn(item)],
  );
}
