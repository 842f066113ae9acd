import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const suite = 'trixie';
const packages = ['postgresql-17', 'postgresql-17-pgvector', 'postgresql-17-timescaledb'];
const project = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the Debian tree is kept between runs. */
export const cacheDirectory = resolve(
  process.env.AGENT_LEARNING_POSTGRES_CACHE ?? join(project, '.cache', 'postgres-17'),
);

/** Whether this process may have mounts of its own, which vanish with it. */
export const hasNamespaces = () =>
  spawnSync('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'true'], { stdio: 'ignore' }).status === 0;

/**
 * The root directory of a Debian with Postgres 17, pgvector and TimescaleDB: the cached one, else a new one made by
 * debootstrap from the mirror that apt uses, its signatures verified. Takes about a minute where it has to be made.
 */
export function debianRoot() {
  if (existsSync(cacheDirectory)) return cacheDirectory;
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    throw new Error(
      'no Postgres 17 with pgvector and timescaledb found, and only root on Debian can make one here: ' +
        'set DATABASE_URL to a database server whose role may create databases, or run `npm run test:embedded`',
    );
  }
  console.error(`making ${cacheDirectory} (once, about a minute)`);
  installDebootstrap();
  removeAbandoned();
  // one rename makes it visible, so that a broken-off or a concurrent run never leaves half a tree under this name
  const partial = `${cacheDirectory}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    debootstrap(partial);
    rmSync(join(partial, 'var/cache/apt'), { recursive: true, force: true });
    rmSync(join(partial, 'var/lib/apt/lists'), { recursive: true, force: true });
    if (!existsSync(cacheDirectory)) renameSync(partial, cacheDirectory);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return cacheDirectory;
}

function installDebootstrap() {
  // the keyring too: an old one may lack the keys of a younger Debian
  const wanted = ['debootstrap', 'debian-archive-keyring'];
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...wanted];
  run('apt-get', ['update', '-qq'], environment);
  run('apt-get', install, environment);
}

function debootstrap(target) {
  const arguments_ = ['--variant=minbase', `--include=${packages.join(',')}`, suite, target, debianMirror()];
  const environment = { ...process.env, ...aptProxy() };
  // in its own namespace a broken-off run leaves nothing mounted in the tree
  if (hasNamespaces()) {
    run('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'debootstrap', ...arguments_], environment);
  } else {
    run('debootstrap', arguments_, environment);
  }
}

/** The first web mirror of Debian's main archive among apt's sources. */
function debianMirror() {
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI) $(LABEL) $(COMPONENT)'], {
    encoding: 'utf8',
  });
  for (const line of targets.split('\n')) {
    const [uri, label, component] = line.split(' ');
    if (label === 'Debian' && component === 'main' && /^https?:/.test(uri ?? '')) return uri;
  }
  throw new Error("no Debian mirror among apt's sources: set DATABASE_URL, or run `npm run test:embedded`");
}

/** debootstrap downloads by itself and does not read apt's configuration. */
function aptProxy() {
  const output = execFileSync('apt-config', ['shell', 'proxy', 'Acquire::http::Proxy'], { encoding: 'utf8' });
  const proxy = /^proxy='(.+)'/m.exec(output)?.[1];
  return proxy && !process.env.http_proxy ? { http_proxy: proxy } : {};
}

function removeAbandoned() {
  const prefix = `${basename(cacheDirectory)}.partial-`;
  const parent = dirname(cacheDirectory);
  if (!existsSync(parent)) return;
  for (const entry of readdirSync(parent)) {
    if (!entry.startsWith(prefix) || existsSync(`/proc/${entry.slice(prefix.length)}`)) continue;
    rmSync(join(parent, entry), { recursive: true, force: true });
  }
}

function run(command, arguments_, env) {
  const result = spawnSync(command, arguments_, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status === 0) return;
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`;
  console.error(output.split('\n').slice(-30).join('\n'));
  throw new Error(`${command} failed: set DATABASE_URL, or run \`npm run test:embedded\``);
}
