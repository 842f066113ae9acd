import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrations } from '../migrations/index.js';
import { EmbeddedDatabase } from '../src/platform/database/embedded-database.js';
import { startDatabase } from '../src/platform/database/start-database.js';
import { TestProcess } from './support/child-process.js';
import { emptyTar } from './support/embedded-tars.js';
import { emptyDatabase, type Clones } from './support/postgres-clones.js';
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
  const { rows } = await client.query<Record<string, unknown>>(
    `select (select array_agg(name order by id) from migrations) as ours,
            (select count(*)::int from graphile_worker.migrations) > 0 as queue,
            (select count(*)::int from pg_locks join pg_database on oid = database
             where locktype = 'advisory' and datname = current_database()) as locks`,
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

// What only a real server can refuse; the rest stands in server-check.spec.ts.
if (postgres) {
  describe('a Postgres that will not do', () => {
    const role = `agent_learning_guest_${process.pid}`;
    let database: Clones;
    let address: URL;
    const query = async (url: string, sql: string): Promise<void> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    const start = (change: (url: URL) => void): Promise<unknown> => {
      const url = new URL(address);
      change(url);
      return startDatabase({ databaseUrl: url.href, dataDir: 'memory://', entities: [] });
    };

    beforeAll(async () => {
      database = await emptyDatabase(postgres);
      address = new URL(database.urls[0] ?? '');
      await query(postgres, `create role ${role} login password 'guest'`);
    });
    afterAll(async () => {
      await database.drop();
      await query(postgres, `drop role ${role}`);
    });

    it.each<[string, (url: URL) => void, string]>([
      ['a wrong password', (url) => (url.password = 'wrong'), 'the password is wrong: correct DATABASE_URL'],
      ['an unknown database', (url) => (url.pathname = '/nowhere'), 'there is no such database: create it'],
      [
        'a user without rights',
        (url) => {
          url.username = role;
          url.password = 'guest';
        },
        'the user has not enough rights: let it create tables in the schema public',
      ],
      [
        'a read-only server',
        (url) => url.searchParams.set('options', '-c default_transaction_read_only=on'),
        'the server is read-only: name the primary in DATABASE_URL',
      ],
    ])('is refused in one line: %s', async (_name, change, advice) => {
      const refusal: unknown = await start(change).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: 'BootError', message: expect.stringContaining(advice) });
      const { message } = refusal as Error;
      expect(message).not.toContain('\n');
      expect(message).not.toContain(decodeURIComponent(address.password));
    });

    it('comes up where the user may create what is needed, without TimescaleDB', async () => {
      await query(address.href, 'create extension vector');
      await query(address.href, `grant create on schema public to ${role}`);
      await query(address.href, `grant create on database ${address.pathname.slice(1)} to ${role}`);
      const guest = new URL(address);
      guest.username = role;
      guest.password = 'guest';
      const started = await startDatabase({ databaseUrl: guest.href, dataDir: 'memory://', entities: [] });
      expect(started.connection).toMatchObject({ mode: 'postgres', hypertable: false });
      await started.stop();
    });
  });
}
