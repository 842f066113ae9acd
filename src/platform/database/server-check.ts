import pg from 'pg';
import { BootError } from './boot-error.js';

/** 14 is the oldest that the migrations were written for. */
const OLDEST_SERVER = 14;

export interface ServerFacts {
  version: string;
}

/** The pool settings of a `DATABASE_URL`. @throws BootError if it is not one */
export function poolConfigOf(databaseUrl: string): pg.PoolConfig {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new BootError('DATABASE_URL is not a Postgres address: write postgresql://user:password@host:5432/database');
  }
  const poolConfig = { connectionString: databaseUrl, connectionTimeoutMillis: 10_000, keepAlive: true };
  try {
    new pg.Client(poolConfig);
  } catch (error) {
    throw new BootError(
      'DATABASE_URL cannot be read: write postgresql://user:password@host:5432/database, special characters ' +
        'percent-encoded',
      { cause: error },
    );
  }
  return poolConfig;
}

/** `user@host:port/database`, fit for a message: it holds no password. */
export function addressOf(poolConfig: Readonly<pg.PoolConfig>): string {
  const client = new pg.Client(poolConfig);
  return `${client.user ?? ''}@${client.host}:${client.port}/${client.database ?? ''}`;
}

/** Connects once and looks whether the server will do. @throws BootError if it will not */
export async function checkServer(poolConfig: Readonly<pg.PoolConfig>): Promise<ServerFacts> {
  const client = new pg.Client(poolConfig);
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw bootErrorOf(error, poolConfig) ?? cannotStart(poolConfig, 'correct DATABASE_URL', error);
  }
  try {
    const { rows } = await client.query<{ version: string; number: number; vector: boolean }>(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
              exists (select from pg_available_extensions where name = 'vector') as vector`,
    );
    const [server] = rows;
    if (!server) throw new Error('the server answered nothing');
    if (server.number < OLDEST_SERVER * 10_000) {
      throw new BootError(
        `Postgres ${server.version} at ${addressOf(poolConfig)} is too old: use ${OLDEST_SERVER} or newer`,
      );
    }
    if (!server.vector) {
      throw new BootError(
        `Postgres at ${addressOf(poolConfig)} lacks the extension vector: install pgvector there ` +
          `(Debian: postgresql-${Math.trunc(server.number / 10_000)}-pgvector)`,
      );
    }
    return { version: server.version };
  } finally {
    await client.end();
  }
}

const ADVICE: Record<string, string> = {
  '25006': 'the server is read-only: name the primary in DATABASE_URL',
  ECONNREFUSED: 'nothing listens there: start Postgres or correct DATABASE_URL',
  ENOENT: 'there is no such socket: start Postgres or correct DATABASE_URL',
  ENOTFOUND: 'the host is unknown: correct DATABASE_URL',
  EAI_AGAIN: 'the host name could not be resolved: correct DATABASE_URL or mend the network',
  ETIMEDOUT: 'no answer in time: correct DATABASE_URL or mend the network',
  EHOSTUNREACH: 'the host cannot be reached: correct DATABASE_URL or mend the network',
  ECONNRESET: 'the connection was cut: see the log of the server',
  '28P01': 'the password is wrong: correct DATABASE_URL',
  '28000': 'the server refuses this user: correct DATABASE_URL or its pg_hba.conf',
  '3D000': 'there is no such database: create it or correct DATABASE_URL',
  '53300': 'the server has no connection left: raise its max_connections',
  '57P03': 'the server is starting or stopping: try again in a moment',
  '42501':
    'the user has not enough rights: let it create tables in the schema public and schemas in the database ' +
    '(GRANT CREATE), and let a superuser run CREATE EXTENSION vector',
};

/** What a failure to start on a Postgres means for the one who starts the service; undefined where that is not known. */
export function bootErrorOf(error: unknown, poolConfig: Readonly<pg.PoolConfig>): BootError | undefined {
  if (error instanceof BootError) return error;
  const code = codeOf(error);
  const timedOut = error instanceof Error && error.message.includes('timeout') ? 'ETIMEDOUT' : undefined;
  const advice = ADVICE[code ?? ''] ?? ADVICE[timedOut ?? ''];
  return advice === undefined ? undefined : cannotStart(poolConfig, advice, error);
}

function cannotStart(poolConfig: Readonly<pg.PoolConfig>, advice: string, cause: unknown): BootError {
  const said = cause instanceof Error && cause.message ? ` (${cause.message})` : '';
  return new BootError(`cannot start on Postgres ${addressOf(poolConfig)}${said}: ${advice}`, { cause });
}

/** Of the error or, where several addresses of a host were tried, of the first one. */
function codeOf(error: unknown): string | undefined {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return (first as NodeJS.ErrnoException | undefined)?.code;
}
