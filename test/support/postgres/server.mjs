import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../free-port.mjs';
import { debianRoot, hasNamespaces } from './rootfs.mjs';

const supervisor = fileURLToPath(new URL('supervise.sh', import.meta.url));
const startLimitMs = 60_000;
const debianBinaries = '/usr/lib/postgresql/17/bin';

/**
 * Starts an empty Postgres 17 with pgvector and TimescaleDB on a free loopback port, its data in a temporary directory.
 * The system's own binaries are used where they suffice, else those of `debianRoot`. `url` names a superuser;
 * `stop` ends the server and removes its data. Both also happen when this process ends without calling it.
 */
export async function startPostgres() {
  const installation = systemInstallation() ?? { root: debianRoot(), binaries: debianBinaries };
  for (let attempt = 1; ; attempt += 1) {
    const server = launch(installation, await freePort());
    try {
      await server.ready();
      return { url: server.url, stop: server.stop };
    } catch (error) {
      await server.stop();
      // somebody else may take the port between the look and the start
      if (attempt === 3 || !server.log().includes('Address already in use')) {
        throw new Error(`Postgres did not start: ${error.message}\n${server.log()}`, { cause: error });
      }
    }
  }
}

function launch({ root, binaries }, port) {
  const password = randomBytes(12).toString('hex');
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const isRoot = process.getuid?.() === 0;
  const isPrivate = isRoot && hasNamespaces();
  const command = ['sh', supervisor];
  if (isPrivate) command.unshift('unshare', '--mount', '--pid', '--fork', '--kill-child');
  const child = spawn(command[0], command.slice(1), {
    // Ctrl-C in a terminal must reach the tests alone: the server ends after them, by its lifeline
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      ROOT: root,
      BINARIES: binaries,
      PORT: String(port),
      PASSWORD: password,
      PRIVATE: isPrivate ? '1' : '0',
    },
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log = (log + text).slice(-10_000)));
  const ended = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  });
  let running = true;
  void ended.then(() => (running = false));
  return {
    url,
    log: () => log,
    async ready() {
      const limit = Date.now() + startLimitMs;
      while (running && Date.now() < limit) {
        if (await answers(url)) return;
        await delay(100);
      }
      throw new Error(running ? `no answer within ${startLimitMs / 1000} s` : 'it ended at once');
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

async function answers(connectionString) {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The system's Postgres 17, where it has both extensions. */
function systemInstallation() {
  for (const command of [join(debianBinaries, 'pg_config'), 'pg_config']) {
    const [version, binaries, share] = ask(command, ['--version', '--bindir', '--sharedir']);
    if (!version?.startsWith('PostgreSQL 17') || !existsSync(join(binaries, 'initdb'))) continue;
    const hasExtension = (name) => existsSync(join(share, 'extension', `${name}.control`));
    if (hasExtension('vector') && hasExtension('timescaledb')) return { root: '/', binaries };
  }
  return undefined;
}

function ask(command, questions) {
  try {
    return questions.map((question) => execFileSync(command, [question], { encoding: 'utf8', stdio: 'pipe' }).trim());
  } catch {
    return []; // not installed
  }
}
