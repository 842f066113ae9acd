import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrations } from '../migrations/index.js';
import { EmbeddedDatabase } from '../src/platform/database/embedded-database.js';
import { startDatabase } from '../src/platform/database/start-database.js';
import { TestProcess } from './support/child-process.js';
import { emptyTar } from './support/embedded-tars.js';
import { emptyDatabase } from './support/postgres-clones.js';
import type { TestAddress } from './support/test-servers.js';

const { DATABASE_URL: postgres } = process.env;
const endings: (() => Promise<void>)[] = [];

/** Address of a database without anything of ours in it. */
async function empty(): Promise<TestAddress> {
  if (postgres) {
    const { urls, drop } = await emptyDatabase(postgres);
    endings.push(drop);
    return { databaseUrl: urls[0] ?? '' };
  }
  const onFatal = (error: Error): never => {
    throw error;
  };
  const database = await EmbeddedDatabase.start({ dataDir: 'memory://', tar: await emptyTar(), onFatal });
  endings.push(() => database.stop());
  return { embeddedUrl: database.url };
}

async function schemaOf(address: TestAddress): Promise<unknown[]> {
  const client = new pg.Client('databaseUrl' in address ? address.databaseUrl : address.embeddedUrl);
  await client.connect();
  const { rows } = await client.query<unknown>(
    `select (select array_agg(name order by id) from migrations) as ours,
            (select count(*)::int from graphile_worker.migrations) > 0 as queue,
            (select count(*)::int from pg_locks where locktype = 'advisory') as locks`,
  );
  await client.end();
  return rows;
}

const current = [{ ours: migrations.map(({ name }) => name), queue: true, locks: 0 }];

describe('an empty database', () => {
  afterEach(async () => {
    await Promise.all(endings.splice(0).map((end) => end()));
  });

  it('is migrated at the first start and left alone at the next', async () => {
    const address = await empty();
    for (let start = 0; start < 2; start++) {
      const { stop } = await startDatabase({ ...address, dataDir: 'memory://', entities: [] });
      await stop();
      expect(await schemaOf(address)).toEqual(current);
    }
  });

  // An embedded database belongs to one process: its directory is locked.
  if (postgres) {
    it('is migrated once by three processes that start at once, and all three come up', async () => {
      const address = await empty();
      const options = JSON.stringify({ ...address, dataDir: 'memory://' });
      const three = Array.from(
        { length: 3 },
        () => new TestProcess('database-process.ts', { args: [options, 'start'] }),
      );
      expect(await Promise.all(three.map(({ exited }) => exited))).toEqual([0, 0, 0]);
      expect(three.map(({ lines }) => lines)).toEqual([['ready'], ['ready'], ['ready']]);
      expect(await schemaOf(address)).toEqual(current);
    });
  }
});
