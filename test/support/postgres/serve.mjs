// Starts a throw-away Postgres for a developer: `node test/support/postgres/serve.mjs`, Ctrl-C ends it.
import { startPostgres } from './server.mjs';

try {
  const { url, stop } = await startPostgres();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void stop());
  console.log(url);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
