import { EmbeddedDatabase } from '../../src/platform/database/embedded-database.js';
import { migratedTar } from './embedded-tars.js';
import { cloneDatabases } from './postgres-clones.js';

/** Where the database of one Jest worker is. */
export type TestAddress = { databaseUrl: string } | { embeddedUrl: string };

export interface TestServers {
  addresses: TestAddress[];
  stop(): Promise<void>;
}

/** Starts `count` databases with the current schema: clones on the Postgres of `DATABASE_URL`, else embedded ones. */
export async function startServers(count: number): Promise<TestServers> {
  const { DATABASE_URL: url } = process.env;
  if (url) {
    const clones = await cloneDatabases(url, count);
    return { addresses: clones.urls.map((databaseUrl) => ({ databaseUrl })), stop: clones.drop };
  }
  const tar = await migratedTar();
  const databases = await Promise.all(
    Array.from({ length: count }, () => EmbeddedDatabase.start({ dataDir: 'memory://', tar, onFatal: endProcess })),
  );
  return {
    addresses: databases.map((database) => ({ embeddedUrl: database.url })),
    async stop() {
      await Promise.all(databases.map((database) => database.stop()));
    },
  };
}

function endProcess(error: Error): void {
  process.stderr.write(`a test database broke: ${error.stack}\n`);
  process.exit(1);
}
