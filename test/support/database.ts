import pg from 'pg';
import type { DataSource } from 'typeorm';
import { entities } from '../../src/entities.js';
import type { DatabaseConnection } from '../../src/platform/database/connection.js';
import { Database } from '../../src/platform/database/database.js';
import { startDatabase } from '../../src/platform/database/start-database.js';
import type { TestAddress } from './test-servers.js';

export interface TestDatabase {
  /** For `DatabaseModule.forRoot`, beside `entities` and `dataDir`. */
  address: TestAddress;
  database: Database;
  dataSource: DataSource;
  connection: DatabaseConnection;
  /** Empties every table. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Address of the database of this Jest worker, migrated; what an earlier test file left is still in it. */
export function testConnection(): TestAddress {
  const addresses = JSON.parse(process.env.TEST_SERVERS ?? '[]') as TestAddress[];
  const worker = Number(process.env.JEST_WORKER_ID ?? 1) - 1;
  const address = addresses[worker % addresses.length];
  if (!address) throw new Error('there is no test database: a test that needs one is named *.e2e-spec.ts');
  return address;
}

/** The database of this Jest worker, emptied. Call `close` in `afterAll`. */
export async function testDatabase(): Promise<TestDatabase> {
  const address = testConnection();
  const { dataSource, connection, stop } = await startDatabase({ ...address, dataDir: 'memory://', entities });
  const database = new Database(dataSource);
  const reset = (): Promise<void> => truncateAll((sql) => database.query(sql));
  await reset();
  return { address, database, dataSource, connection, reset, close: stop };
}

/** Empties every table of the database of this Jest worker. */
export async function resetDatabase(): Promise<void> {
  const address = testConnection();
  const client = new pg.Client('databaseUrl' in address ? address.databaseUrl : address.embeddedUrl);
  await client.connect();
  try {
    await truncateAll(async (sql) => (await client.query<{ name: string }>(sql)).rows);
  } finally {
    await client.end();
  }
}

async function truncateAll(query: (sql: string) => Promise<{ name: string }[]>): Promise<void> {
  const tables = await query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where (schemaname = 'public' and tablename not in ('migrations', 'typeorm_metadata'))
        or (schemaname = 'graphile_worker' and tablename in ('_private_jobs', '_private_job_queues'))`,
  );
  const truncate = `truncate ${tables.map(({ name }) => name).join(', ')}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await query(truncate);
      return;
    } catch (error) {
      // The job runner of the test's own application is at work on these tables.
      if (!/deadlock detected/.test(String(error)) || attempt === 5) throw error;
    }
  }
}
