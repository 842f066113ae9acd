import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { BootError } from './boot-error.js';

/** Gives the directory back. */
export type ReleaseDirectory = () => Promise<void>;

/**
 * Claims `directory`, a real path, for this process: of two that opened one database directory, the rows of one would
 * vanish silently. On Linux an abstract Unix socket, which is free again the moment its process dies; elsewhere a file.
 *
 * @throws BootError if another process has it
 */
export async function lockDirectory(directory: string): Promise<ReleaseDirectory> {
  return process.platform === 'linux' ? lockByAbstractSocket(directory) : lockByFile(directory);
}

function inUse(directory: string, holder = 'another process'): BootError {
  return new BootError(
    `the data directory ${directory} is in use by ${holder}: stop it, or give this one another DATA_DIR ` +
      `(several processes on one database need DATABASE_URL)`,
  );
}

function lockByAbstractSocket(directory: string): Promise<ReleaseDirectory> {
  const name = createHash('sha256').update(directory).digest('hex');
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? inUse(directory) : error);
    });
    server.listen({ path: `\0agent-learning-${name}` }, () => {
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}

/** Claims `directory` by a file that names its process; that of a process which is no more is taken over. */
export async function lockByFile(directory: string): Promise<ReleaseDirectory> {
  const file = join(directory, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
      return async () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
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
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
