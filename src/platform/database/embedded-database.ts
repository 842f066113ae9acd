import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PoolConfig } from 'pg';
import { BootError } from './boot-error.js';
import { lockDirectory, type ReleaseDirectory } from './directory-lock.js';

export interface EmbeddedDatabaseOptions {
  /** Created (mode 0700) where it is missing. `memory://` keeps nothing. */
  dataDir: string;
  /** A tar made by `dump`, from which a database that does not exist yet is made. */
  tar?: string;
  /** Connections at once, of all pools together. @default 100 */
  maxConnections?: number;
  /** Called once if the database broke beyond repair: every further query would wait for ever. */
  onFatal: (error: Error) => void;
}

type WorkerMessage =
  | { type: 'ready' }
  | { type: 'fatal'; message: string }
  | { type: 'done'; id: number }
  | { type: 'failed'; id: number; message: string };

interface Waiting {
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Postgres with pgvector in this process: PGlite in a worker thread, spoken to by the ordinary driver over a Unix
 * socket in a directory that only this user may enter (PGlite checks no password).
 */
export class EmbeddedDatabase {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private stopping = false;
  private broken = false;

  private constructor(
    private readonly worker: Worker,
    private readonly socketDirectory: string,
    private readonly release: ReleaseDirectory,
    private readonly onFatal: (error: Error) => void,
  ) {}

  /**
   * Starts the database; about 1 s, 6 s the first time in a directory.
   *
   * @throws BootError if the directory cannot be used or another process uses it
   */
  static async start(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
    const directory = options.dataDir === 'memory://' ? undefined : prepareDirectory(options.dataDir);
    const release = directory ? await lockDirectory(directory) : async (): Promise<void> => undefined;
    const socketDirectory = makeSocketDirectory(directory);
    const worker = new Worker(new URL('./pglite-worker.mjs', import.meta.url), {
      name: 'embedded-database',
      execArgv: [],
      // Postgres' own limit of depth does not see the stack of WebAssembly: with the usual 4 MB, JSON 200,000 deep broke it.
      resourceLimits: { stackSizeMb: 64 },
      workerData: {
        directory: directory && join(directory, 'postgres'),
        tar: options.tar,
        socketPath: join(socketDirectory, '.s.PGSQL.5432'),
        maxConnections: options.maxConnections ?? 100,
      },
    });
    const database = new EmbeddedDatabase(worker, socketDirectory, release, options.onFatal);
    try {
      await database.ready();
    } catch (error) {
      await database.cleanUp();
      const reason = (error as Error).message;
      throw new BootError(
        directory
          ? `the embedded database in ${directory} did not start (${reason}): restore it from a backup or name another DATA_DIR`
          : `an embedded database in memory did not start (${reason})`,
        { cause: error },
      );
    }
    return database;
  }

  /** What `pg` needs to connect. All is stated, so that no PG* environment variable leads elsewhere. */
  get poolConfig(): PoolConfig {
    return { host: this.socketDirectory, port: 5432, user: 'postgres', password: '', database: 'postgres', ssl: false };
  }

  /** The same as a URL. */
  get url(): string {
    return `postgresql://postgres@${encodeURIComponent(this.socketDirectory)}/postgres`;
  }

  /** Writes the whole database as a tar from which another one can be started. Nothing may be connected meanwhile. */
  dump(file: string): Promise<void> {
    return this.command({ type: 'dump', file });
  }

  /** Ends all connections, writes what is unwritten and gives the directory back. */
  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    if (!this.broken) await this.command({ type: 'stop' });
    await this.cleanUp();
  }

  private readonly removeSocket = (): void => rmSync(this.socketDirectory, { recursive: true, force: true });

  private ready(): Promise<void> {
    process.once('exit', this.removeSocket);
    return new Promise((resolve, reject) => {
      this.waiting.set(this.lastId, { resolve, reject });
      this.worker.on('message', (message: WorkerMessage) => this.receive(message));
      this.worker.on('error', (error) => this.fail(error instanceof Error ? error : new Error(String(error))));
      this.worker.on('exit', (code) => {
        if (!this.stopping) this.fail(new Error(`its thread ended with code ${code}`));
      });
    });
  }

  private command(message: { type: 'dump'; file: string } | { type: 'stop' }): Promise<void> {
    return new Promise((resolve, reject) => {
      const id = ++this.lastId;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ ...message, id });
    });
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'fatal') return this.fail(new Error(message.message));
    const id = message.type === 'ready' ? 0 : message.id;
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (message.type === 'failed') waiting?.reject(new Error(message.message));
    else waiting?.resolve();
  }

  private fail(error: Error): void {
    if (this.broken) return;
    this.broken = true;
    const starting = this.waiting.has(0);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    if (!starting && !this.stopping) this.onFatal(error);
  }

  private async cleanUp(): Promise<void> {
    this.stopping = true;
    await this.worker.terminate();
    process.off('exit', this.removeSocket);
    this.removeSocket();
    await this.release();
  }
}

function prepareDirectory(dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BootError(`DATA_DIR ${dataDir} cannot be used (${code}): name a directory that this user may write to`, {
      cause: error,
    });
  }
}

/**
 * A directory that only this user may enter, in the temporary one: paths of sockets must be short. That of a locked data
 * directory always has the same name, so that a process that is killed leaves no more than one behind.
 */
function makeSocketDirectory(directory: string | undefined): string {
  const prefix = join(tmpdir(), 'agent-learning-');
  if (!directory) return mkdtempSync(prefix);
  const path = prefix + createHash('sha256').update(directory).digest('hex').slice(0, 16);
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    // another user's
    return mkdtempSync(prefix);
  }
}
