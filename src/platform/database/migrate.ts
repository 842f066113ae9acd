import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Any number that no other user of the database locks. */
const MIGRATION_LOCK = 7_265_112_408;

/**
 * Brings the database to the current schema: ours, then that of the job queue. Neither of the two migrators takes a
 * lock, so of several processes that start at once all but one wait here.
 */
export async function migrate(dataSource: DataSource, poolConfig: Readonly<pg.PoolConfig>): Promise<void> {
  // A client of its own: the lock belongs to its session.
  const client = new pg.Client(poolConfig);
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      await dataSource.runMigrations();
      await migrateJobQueue(poolConfig);
    } finally {
      // On the embedded database the session, and with it the lock, outlives the client.
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await client.end();
  }
}

async function migrateJobQueue(poolConfig: Readonly<pg.PoolConfig>): Promise<void> {
  const pgPool = new pg.Pool({ ...poolConfig, max: 2 });
  pgPool.on('error', () => undefined);
  try {
    await runMigrations({ pgPool, logger: new Logger(() => () => undefined) });
  } finally {
    await pgPool.end();
  }
}
