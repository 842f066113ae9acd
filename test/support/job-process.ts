import { setTimeout as sleep } from 'node:timers/promises';
import type { JobAppOptions } from './job-app.js';
import { startJobApp } from './job-app.js';

// A replica whose jobs never end: says `started` when it has begun one. Meant to be killed.
const options = JSON.parse(process.argv[2] ?? '{}') as Omit<JobAppOptions, 'handlers'>;

await startJobApp({
  ...options,
  handlers: [
    {
      task: 'work',
      async run(): Promise<void> {
        process.stdout.write('started\n');
        await sleep(600_000);
      },
    },
  ],
});
process.stdout.write('ready\n');
