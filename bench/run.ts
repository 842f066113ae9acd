// npm run bench -- [suite …] [--postgres]
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import { clustering } from './clustering.js';
import { intake } from './intake.js';
import { lifecycle } from './lifecycle.js';
import { priorWork } from './prior-work.js';
import { retrieval } from './retrieval.js';
import { screening } from './screening.js';
import { search } from './search.js';

const SUITES: Record<string, (bench: Bench) => Promise<void>> = {
  retrieval,
  'prior-work': priorWork,
  search,
  clustering,
  lifecycle,
  intake,
  screening,
};

const { values, positionals } = parseArgs({ options: { postgres: { type: 'boolean' } }, allowPositionals: true });
const usesPostgres = values.postgres ?? Boolean(process.env.DATABASE_URL);
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => reject(new Error(signal)));
});

try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(SUITES)) {
    const suite = SUITES[name];
    if (!suite) throw new Error(`no suite ${name}: there are ${Object.keys(SUITES).join(', ')}`);
    const machine = `node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}`;
    console.log(`\n${name}: ${usesPostgres ? 'Postgres' : 'embedded database'}, ${machine}`);
    const bench = new Bench(usesPostgres);
    await Promise.race([suite(bench), interrupted]).finally(() => bench.stop());
  }
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
