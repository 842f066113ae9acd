import { BootError } from '../../src/platform/database/boot-error.js';
import { startDatabase, type DatabaseOptions } from '../../src/platform/database/start-database.js';

// A process that opens a database: `ready`, or its refusal, on stdout. With `write` it then inserts rows and says each id
// once it is acknowledged; with `break` it breaks the embedded database. Ends at SIGTERM.
const [options, action] = process.argv.slice(2);

try {
  const parsed = JSON.parse(options ?? '{}') as Omit<DatabaseOptions, 'entities'>;
  const { dataSource, stop } = await startDatabase({ ...parsed, entities: [] });
  process.once('SIGTERM', () => void stop().then(() => process.exit(0)));
  process.stdout.write('ready\n');
  for (let id = 0; action === 'write'; id++) {
    await dataSource.query(`insert into job_worker_heartbeats (worker_id, seen_at) values ($1, now())`, [
      `${process.pid}-${id}`,
    ]);
    process.stdout.write(`${process.pid}-${id}\n`);
  }
  // PGlite throws where Postgres wants to run a program.
  if (action === 'break') await dataSource.query(`copy (select 1) to program 'true'`);
  if (action === 'stay') setInterval(() => undefined, 1_000);
  else await stop();
} catch (error) {
  if (!(error instanceof BootError)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
}
