import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PersonalDataParts } from '../src/core/personal-data/personal-data-parts.js';
import { startApp, type TestApp } from './support/app.js';

/** Tables that hold nothing of agents or the people who speak to them. */
const WITHOUT_PERSONAL_DATA = [
  // The organisation document, which is the operator's.
  ...['organizations', 'people', 'roles', 'units'],
  ...['api_keys', 'stream_tickets'],
  // Names stand in it as their sha-256.
  'audit_log',
  'erasures',
  'job_worker_heartbeats',
  ...['migrations', 'typeorm_metadata'],
];

/** Tables that never hold text of a turn, and whose late rows harm nobody. */
const WITHOUT_GATE = ['agents', 'execution_slots', 'execution_slot_waits'];

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

it('every table belongs to one room that exports and erases it, or to the list of those without personal data', async () => {
  const tables = await test.database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const registered = test.app
    .get(PersonalDataParts, { strict: false })
    .inErasureOrder()
    .flatMap((part) => part.tables);
  const known = [...registered, ...WITHOUT_PERSONAL_DATA].sort();
  expect(tables.map(({ name }) => name)).toEqual(
    known.filter((name) => name !== 'typeorm_metadata' || tables.some((table) => table.name === name)),
  );
});

it('writers of every such table wait at the gate of an erasure', async () => {
  const gated = await test.database.query<{ name: string }>(
    `select distinct tgrelid::regclass::text as name from pg_trigger
     where not tgisinternal and tgname = tgrelid::regclass::text || '_erasure_gate'`,
  );
  const registered = test.app
    .get(PersonalDataParts, { strict: false })
    .inErasureOrder()
    .flatMap((part) => part.tables);
  const names = gated.map(({ name }) => name).filter((name) => registered.includes(name));
  expect([...names, ...WITHOUT_GATE].sort()).toEqual([...registered].sort());
});
