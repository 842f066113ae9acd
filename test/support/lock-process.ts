import { lockBySocket } from '../../src/platform/database/directory-lock.js';

// A process that claims the directory named by its argument, says so or why not, and stays until it is killed.
const [directory] = process.argv.slice(2);
const answer = await lockBySocket(directory!).then(
  () => 'locked',
  (error: unknown) => (error as Error).message,
);
process.stdout.write(`${answer}\n`);
setInterval(() => undefined, 1_000);
