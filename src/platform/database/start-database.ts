import type { DataSource } from 'typeorm';
import { DatabaseConnection, type DatabaseMode } from './connection.js';
import { createDataSource, type EntityClass } from './data-source.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { migrate } from './migrate.js';
import { bootErrorOf, checkServer, poolConfigOf } from './server-check.js';

export interface DatabaseOptions {
  /** A Postgres to use. Without it, and without `embeddedUrl`, the embedded database of `dataDir` is started. */
  databaseUrl?: string | undefined;
  /** Directory of the embedded database; `memory://` keeps nothing. */
  dataDir: string;
  /** TypeORM classes of all tables. */
  entities: readonly EntityClass[];
  /** A tar from which an embedded database that does not exist yet is made. */
  embeddedTar?: string | undefined;
  /** Address of an embedded database that somebody else has started and will stop. */
  embeddedUrl?: string | undefined;
  /** Connections of the DataSource's pool. @default 10 */
  poolSize?: number | undefined;
  /** Called once if the embedded database broke. @default says so on stderr and ends the process with 1 */
  onFatal?: ((error: Error) => void) | undefined;
}

export interface StartedDatabase {
  connection: DatabaseConnection;
  dataSource: DataSource;
  /** Ends the DataSource, then the embedded database. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded database or connects to the given one, migrates it and opens the DataSource.
 *
 * @throws BootError if that cannot be done and somebody has to change something
 */
export async function startDatabase(options: DatabaseOptions): Promise<StartedDatabase> {
  if (options.databaseUrl) return open(options, 'postgres', poolConfigOf(options.databaseUrl));
  // No limit of time: a connection waits there while another one holds a transaction.
  if (options.embeddedUrl) return open(options, 'embedded', { connectionString: options.embeddedUrl });
  const embedded = await EmbeddedDatabase.start({
    dataDir: options.dataDir,
    tar: options.embeddedTar,
    onFatal: options.onFatal ?? endProcess,
  });
  try {
    const opened = await open(options, 'embedded', embedded.poolConfig);
    return {
      ...opened,
      async stop() {
        await opened.stop();
        await embedded.stop();
      },
    };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

async function open(
  options: DatabaseOptions,
  mode: DatabaseMode,
  poolConfig: DatabaseConnection['poolConfig'],
): Promise<StartedDatabase> {
  const dataSource = createDataSource({ poolConfig, entities: options.entities, poolSize: options.poolSize });
  try {
    const { version } = await checkServer(poolConfig);
    await dataSource.initialize();
    await migrate(dataSource, poolConfig);
    const connection = new DatabaseConnection(mode, poolConfig, version, await hasHypertable(dataSource));
    return { connection, dataSource, stop: async () => (dataSource.isInitialized ? dataSource.destroy() : undefined) };
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw bootErrorOf(error, poolConfig) ?? error;
  }
}

async function hasHypertable(dataSource: DataSource): Promise<boolean> {
  const [timescale] = await dataSource.query<unknown[]>(`select from pg_extension where extname = 'timescaledb'`);
  if (!timescale) return false;
  const [hypertable] = await dataSource.query<unknown[]>(
    `select from timescaledb_information.hypertables where hypertable_name = 'episodes'`,
  );
  return hypertable !== undefined;
}

function endProcess(error: Error): void {
  process.stderr.write(
    `The embedded database broke (${error.message}) and cannot go on. What was acknowledged is on disk: start again.\n`,
  );
  process.exit(1);
}
