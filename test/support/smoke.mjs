// Boots the built service on an empty data directory, waits until it can serve, and ends it as an orchestrator would.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const readyLimitMs = 60_000;
const stopLimitMs = 15_000;

async function isReady(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false; // not listening yet
  }
}

const directory = mkdtempSync(join(tmpdir(), 'smoke-'));
const port = await freePort();
const service = spawn(process.execPath, [main], {
  cwd: directory,
  // nothing of the caller's: neither a database nor a key that a model would be asked with
  env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), DATA_DIR: join(directory, 'data') },
  stdio: ['ignore', 'pipe', 'pipe'],
});
let log = '';
for (const stream of [service.stdout, service.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text));
let running = true;
const ended = new Promise((resolve) => service.once('exit', (code, signal) => resolve(signal ?? code)));
void ended.then(() => (running = false));
process.once('exit', () => service.kill('SIGKILL'));

async function check() {
  const start = Date.now();
  while (!(await isReady(`http://127.0.0.1:${port}/health/ready`))) {
    if (!running) throw new Error(`it ended before it was ready: ${await ended}`);
    if (Date.now() - start > readyLimitMs) throw new Error(`not ready within ${readyLimitMs / 1_000} s`);
    await delay(100);
  }
  const readyMs = Date.now() - start;
  const skills = await (await fetch(`http://127.0.0.1:${port}/tool-skills`)).json();
  if (skills.total !== 6) throw new Error(`the build lacks the bundled tool skills: it has ${skills.total} of 6`);
  service.kill('SIGTERM');
  const result = await Promise.race([ended, delay(stopLimitMs, 'too late', { ref: false })]);
  if (result !== 0) throw new Error(`SIGTERM must end it with exit code 0 within ${stopLimitMs / 1_000} s: ${result}`);
  console.log(`ready after ${readyMs} ms, ended ${Date.now() - start - readyMs} ms after SIGTERM`);
}

try {
  await check();
} catch (error) {
  console.error(`${log}\nsmoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  service.kill('SIGKILL');
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
