import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedDatabase } from '../../src/platform/database/embedded-database.js';

const engine = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];
const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules/.cache/agent-learning');
const require = createRequire(import.meta.url);

/** Tar of an embedded database without our schema: saves the three seconds in which one is made. */
export function emptyTar(): Promise<string> {
  return cached('empty', engine.map(versionOf), async () => undefined);
}

/** Tar of an embedded database with the current schema. */
export async function migratedTar(): Promise<string> {
  const empty = await emptyTar();
  const key = [...schemaSources(), ...[...engine, 'graphile-worker', 'typeorm'].map(versionOf)];
  return cached(
    'migrated',
    key,
    async (database) => {
      const { startDatabase } = await import('../../src/platform/database/start-database.js');
      const started = await startDatabase({ embeddedUrl: database.url, dataDir: 'memory://', entities: [] });
      await started.stop();
    },
    empty,
  );
}

/** What decides the schema, as text: the migrations and who runs them. */
export function schemaSources(): string[] {
  const migrations = readdirSync(join(root, 'migrations')).sort();
  const files = [
    ...migrations.map((name) => join('migrations', name)),
    'src/platform/database/migrate.ts',
    'src/platform/database/data-source.ts',
  ];
  return files.map((file) => readFileSync(join(root, file), 'utf8'));
}

async function cached(
  name: string,
  key: string[],
  fill: (database: EmbeddedDatabase) => Promise<void>,
  from?: string,
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16);
  const file = join(cache, `${name}-${hash}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const onFatal = (error: Error): never => {
    throw error;
  };
  const database = await EmbeddedDatabase.start({ dataDir: 'memory://', tar: from, onFatal });
  try {
    await fill(database);
    await database.dump(file);
  } finally {
    await database.stop();
  }
  removeOld();
  return file;
}

/** Not at once: another test run may be about to read one of them. */
function removeOld(): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > 86_400_000) rmSync(path, { force: true });
  }
}

function versionOf(name: string): string {
  let directory = dirname(require.resolve(name));
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version?: string };
  return `${name}@${version}`;
}
