import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BootError } from './boot-error.js';

/** Gives the directory back. */
export type ReleaseDirectory = () => Promise<void>;

/**
 * Claims `directory`, a real path, for this process: of two that opened one database directory, the rows of one would
 * vanish silently. On Linux by two sockets, which are free again the moment their process dies: an abstract one, which
 * nobody can remove, and one in the directory, as containers that share a volume do not see each other's abstract ones.
 * Elsewhere by a file.
 *
 * @throws BootError if another process has it
 */
export async function lockDirectory(directory: string): Promise<ReleaseDirectory> {
  if (process.platform !== 'linux') return lockByFile(directory);
  const releaseAbstract = await lockByAbstractSocket(directory);
  try {
    const release = await lockBySocket(directory);
    return async () => {
      await release();
      await releaseAbstract();
    };
  } catch (error) {
    await releaseAbstract();
    throw error;
  }
}

function inUse(directory: string, holder = 'another process'): BootError {
  return new BootError(
    `the data directory ${directory} is in use by ${holder}: stop it, or give this one another DATA_DIR ` +
      `(several processes on one database need DATABASE_URL)`,
  );
}

function lockByAbstractSocket(directory: string): Promise<ReleaseDirectory> {
  const name = createHash('sha256').update(directory).digest('hex');
  return listen(`\0agent-learning-${name}`).catch((error: unknown) => {
    throw codeOf(error) === 'EADDRINUSE' ? inUse(directory) : error;
  });
}

/** Where the file system knows no sockets; what one container does is then unknown to the other. */
const NO_SOCKETS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Milliseconds after which nobody who saw the socket of a dead process is still about to remove it. */
const SETTLED = 200;

/** Claims `directory` by a socket in it; that of a process which is no more is taken over. */
export async function lockBySocket(directory: string): Promise<ReleaseDirectory> {
  // By its descriptor: the path of a socket holds 107 bytes, that of a data directory may be longer.
  const descriptor = openSync(directory, 'r');
  const path = `/proc/self/fd/${descriptor}/lock.sock`;
  let close: ReleaseDirectory;
  let stale: boolean;
  try {
    stale = await removeStale(path);
    close = await listen(path);
  } catch (error) {
    closeSync(descriptor);
    if (NO_SOCKETS.has(codeOf(error) ?? '')) return () => Promise.resolve();
    throw HELD.has(codeOf(error) ?? '') ? inUse(directory) : error;
  }
  if (stale) {
    const own = identityOf(path);
    await delay(SETTLED);
    if (own === undefined || identityOf(path) !== own) {
      // Another process took over at the same time. Without the descriptor, closing does not remove its socket.
      closeSync(descriptor);
      await close();
      throw inUse(directory);
    }
  }
  return async () => {
    await close();
    closeSync(descriptor);
  };
}

/** What a socket of a process that lives, or one that appeared meanwhile, answers. */
const HELD = new Set(['EADDRINUSE', 'EACCES', 'EAGAIN']);

/** Removes the socket of a process that is no more; false where there is none. Throws EADDRINUSE where somebody listens. */
async function removeStale(path: string): Promise<boolean> {
  const seen = identityOf(path);
  if (seen === undefined) return false;
  try {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(path, () => {
        socket.destroy();
        resolve();
      });
      socket.once('error', reject);
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    if (codeOf(error) !== 'ECONNREFUSED') throw error;
    // It may have been replaced since it refused.
    if (identityOf(path) === seen) rmSync(path, { force: true });
    return true;
  }
  throw Object.assign(new Error('somebody listens'), { code: 'EADDRINUSE' });
}

/** Numbers of files are used again, so the time belongs to it. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.ctimeNs}`;
}

/** Listens on a Unix socket, closing what connects. */
function listen(path: string): Promise<ReleaseDirectory> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => resolve(() => new Promise((closed) => server.close(() => closed()))));
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Claims `directory` by a file that names its process; that of a process which is no more is taken over. */
export async function lockByFile(directory: string): Promise<ReleaseDirectory> {
  const file = join(directory, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
      return async () => rmSync(file, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const holder = Number.parseInt(readFileSync(file, 'utf8'), 10);
    if (attempt > 0 || isAlive(holder)) throw inUse(directory, `process ${holder}`);
    rmSync(file, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
