// Runs the tests on a real Postgres: the one of DATABASE_URL, else one started for this run. Arguments go to jest.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startPostgres } from './server.mjs';

const jest = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));

async function runJest(url) {
  const child = spawn(process.execPath, ['--experimental-vm-modules', jest, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: url },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

let server;
try {
  server = process.env.DATABASE_URL ? undefined : await startPostgres();
  process.exitCode = await runJest(server?.url ?? process.env.DATABASE_URL);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await server?.stop();
}
