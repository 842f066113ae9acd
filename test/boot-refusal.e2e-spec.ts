import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startDatabase } from '../src/platform/database/start-database.js';
import { emptyDatabase, type Clones } from './support/postgres-clones.js';

const { DATABASE_URL: postgres } = process.env;

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
      expect(started.connection).toMatchObject({ mode: 'postgres', timescale: false });
      await started.stop();
    });
  });
} else {
  it('is looked at where DATABASE_URL names a Postgres', () => undefined);
}
