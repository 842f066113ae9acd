import { createHash } from 'node:crypto';
import pg from 'pg';
import { schemaSources } from './embedded-tars.js';

export interface Clones {
  urls: string[];
  drop(): Promise<void>;
}

/** Makes `count` databases with the current schema beside that of `url`, cloned from a migrated template. */
export async function cloneDatabases(url: string, count: number): Promise<Clones> {
  const hash = createHash('sha256').update(JSON.stringify(schemaSources())).digest('hex').slice(0, 12);
  const template = `agent_learning_template_${hash}`;
  const names = Array.from({ length: count }, (_, index) => `agent_learning_test_${process.pid}_${index}`);
  await withAdmin(url, async (admin) => {
    await makeTemplate(admin, url, template);
    for (const name of names) await admin.query(`create database ${name} template ${template}`);
  });
  return {
    urls: names.map((name) => urlOf(url, name)),
    drop: () =>
      withAdmin(url, async (admin) => {
        for (const name of names) await admin.query(`drop database if exists ${name} with (force)`);
      }),
  };
}

/** An empty database beside that of `url`, for a test that migrates one itself. */
export async function emptyDatabase(url: string): Promise<Clones> {
  const name = `agent_learning_empty_${process.pid}_${Date.now()}`;
  await withAdmin(url, (admin) => admin.query(`create database ${name}`));
  return {
    urls: [urlOf(url, name)],
    drop: () =>
      withAdmin(url, async (admin) => {
        await admin.query(`drop database if exists ${name} with (force)`);
      }),
  };
}

async function makeTemplate(admin: pg.Client, url: string, template: string): Promise<void> {
  // Two test runs that start at once make one template.
  await admin.query('select pg_advisory_lock(hashtext($1))', [template]);
  try {
    const { rows } = await admin.query('select datallowconn from pg_database where datname = $1', [template]);
    const [found] = rows as { datallowconn: boolean }[];
    if (found && !found.datallowconn) return;
    await admin.query(`drop database if exists ${template} with (force)`);
    await admin.query(`create database ${template}`);
    const { startDatabase } = await import('../../src/platform/database/start-database.js');
    const started = await startDatabase({ databaseUrl: urlOf(url, template), dataDir: 'memory://', entities: [] });
    await started.stop();
    // TimescaleDB keeps a background worker connected, and a template in use cannot be cloned.
    await admin.query(`alter database ${template} with allow_connections false`);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type <> 'client backend'`,
      [template],
    );
  } finally {
    await admin.query('select pg_advisory_unlock(hashtext($1))', [template]);
  }
}

async function withAdmin<Result>(url: string, work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}
