import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import type { Settings } from '../src/platform/config/settings.js';
import { loadSettings } from '../src/platform/config/load-settings.js';
import type { Database } from '../src/platform/database/database.js';
import { JobBell } from '../src/platform/jobs/job-bell.js';
import { JobHandlers } from '../src/platform/jobs/job-handlers.js';
import {
  type JobContext,
  type JobHandler,
  type JobOutcome,
  type JobPayload,
  SERVICE_ORG,
} from '../src/platform/jobs/job.models.js';
import { JobReader } from '../src/platform/jobs/job.reader.js';
import { JobStore } from '../src/platform/jobs/job.store.js';
import { Jobs } from '../src/platform/jobs/jobs.js';
import { Sweeps } from '../src/platform/jobs/sweep.job.js';
import { type TestDatabase, testDatabase } from './support/database.js';
import { type JobAppOptions, startJobApp } from './support/job-app.js';
import { TestProcess } from './support/child-process.js';

const org = randomUUID();
let db: TestDatabase;
let jobs: Jobs;
let apps: INestApplicationContext[] = [];

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  await db.reset();
  jobs = clientOf(db.database);
});

afterEach(async () => {
  await Promise.all(apps.map((app) => app.close()));
  apps = [];
});

/** Enqueues and reads, runs nothing. */
function clientOf(database: Database, handlers: JobHandler[] = []): Jobs {
  const registry = new JobHandlers();
  for (const handler of handlers) registry.register(handler);
  const settings: Settings = loadSettings({ env: {}, cwd: '/' });
  return new Jobs(new JobStore(database, settings, new JobBell(database)), new JobReader(database), registry);
}

type Run = (payload: JobPayload, context: JobContext) => Promise<JobOutcome | void>;

async function start(
  run: Run,
  options: Partial<JobAppOptions> & Partial<JobHandler> = {},
): Promise<INestApplicationContext> {
  const { onDead, onRetry, onDemand, schedule } = options;
  const handler: JobHandler = { task: 'work', run, onDead, onRetry, onDemand, schedule };
  const app = await startJobApp({ address: db.address, handlers: [handler], ...options });
  apps.push(app);
  return app;
}

function enqueue(
  key: string,
  more: { queue?: string; agent_id?: string; runAt?: Date; maxAttempts?: number } = {},
): Promise<string> {
  const { agent_id, ...rest } = more;
  return jobs.enqueue({ task: 'work', key, payload: { org_id: org, agent_id, turn_id: key }, ...rest });
}

const list = async () => (await jobs.list({ orgId: org, limit: 200 })).items;

async function eventually<Value>(read: () => Promise<Value> | Value, holds: (value: Value) => boolean): Promise<Value> {
  for (const deadline = Date.now() + 10_000; ; await sleep(20)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`in vain: ${JSON.stringify(value)}`);
  }
}

const empty = (items: unknown[]): boolean => items.length === 0;

describe('a job', () => {
  it('is one a key, however often and from wherever it is enqueued', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => enqueue(`k${i % 2}`)));
    expect(new Set(ids).size).toBe(2);
    const ran: string[] = [];
    await start(async ({ turn_id }) => void ran.push(turn_id!));
    await eventually(list, empty);
    expect(ran.sort()).toEqual(['k0', 'k1']);
  });

  it('each runs once with two replicas at work', async () => {
    const ran: string[] = [];
    const run: Run = async ({ turn_id }) => void ran.push(turn_id!);
    await start(run, { concurrency: 3 });
    await start(run, { concurrency: 3 });
    const keys = Array.from({ length: 60 }, (_, i) => `k${String(i).padStart(2, '0')}`);
    await Promise.all(keys.map((key) => enqueue(key, { queue: `q${Number(key.slice(1)) % 7}` })));
    await eventually(list, empty);
    expect(ran.sort()).toEqual(keys);
  });

  it('is one of its organisation and task', async () => {
    const other = randomUUID();
    const payload = { org_id: other };
    await enqueue('k');
    await jobs.enqueue({ task: 'work', key: 'k', payload });
    await jobs.enqueue({ task: 'play', key: 'k', payload });
    expect(await list()).toHaveLength(1);
    expect((await jobs.list({ orgId: other, limit: 50 })).items.map(({ task }) => task)).toEqual(['play', 'work']);
  });

  it('exists only if the transaction commits', async () => {
    const rolledBack = db.database.transaction(async () => {
      await enqueue('a');
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await db.database.transaction(() => enqueue('b'));
    expect((await list()).map(({ turn_id }) => turn_id)).toEqual(['b']);
  });

  it('of a queue waits for the one before, others do not', async () => {
    const running = new Map<string, number>();
    let most = 0;
    let together = 0;
    await start(async ({ agent_id: agent = '' }) => {
      running.set(agent, (running.get(agent) ?? 0) + 1);
      most = Math.max(most, running.get(agent)!);
      together = Math.max(
        together,
        [...running.values()].reduce((sum, count) => sum + count, 0),
      );
      await sleep(20);
      running.set(agent, running.get(agent)! - 1);
    });
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => enqueue(`k${i}`, { queue: `a${i % 3}`, agent_id: `a${i % 3}` })),
    );
    await eventually(list, empty);
    expect(most).toBe(1);
    expect(together).toBeGreaterThan(1);
  });

  it('runs at its time', async () => {
    let ran = 0;
    await start(async () => void (ran = Date.now()));
    const at = new Date(Date.now() + 700);
    await enqueue('later', { runAt: at });
    await sleep(400);
    expect(ran).toBe(0);
    expect((await list())[0]).toMatchObject({ status: 'pending', attempts: 0, last_error: null });
    await eventually(
      () => ran,
      (time) => time >= at.getTime(),
    );
  });

  it('runs soon after its commit, before a worker asks by itself', async () => {
    let ran = 0;
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const run: Run = async () => {
      ran = Date.now();
      seen.push(context.getStore());
    };
    const app = await start(run, { timings: { poll: 60_000 } });
    // Until all workers are idle.
    await sleep(300);
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      ran = 0;
      await context.run('a request', () => {
        return app.get(Jobs).enqueue({ task: 'work', key: `k${i}`, payload: { org_id: org } });
      });
      const committed = Date.now();
      await eventually(
        () => ran,
        (at) => at > 0,
      );
      waits.push(ran - committed);
    }
    expect(waits.sort((a, b) => a - b)[10]).toBeLessThan(100);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it('that waits may be kept as it is', async () => {
    const at = new Date(Date.now() + 60_000);
    const id = await enqueue('k', { runAt: at });
    const request = { task: 'work', key: 'k', payload: { org_id: org } };
    expect(await jobs.enqueue({ ...request, ifWaiting: 'keep' })).toBe(id);
    expect(new Date((await list())[0]!.run_at)).toEqual(at);
    expect(await jobs.enqueue(request)).toBe(id);
    expect(new Date((await list())[0]!.run_at).getTime()).toBeLessThan(at.getTime());
  });
});

describe('outcomes', () => {
  it('again spends no attempt', async () => {
    const attempts: number[] = [];
    await start(async (_, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length === 1) throw new Error('passes by');
      if (attempts.length < 5) return { status: 'again', at: new Date(), reason: 'slot' };
    }, {});
    await enqueue('k', { queue: 'q', agent_id: 'a' });
    await eventually(
      () => attempts.length,
      (count) => count === 1,
    );
    const [retrying] = await eventually(list, ([job]) => job?.status === 'retrying');
    expect(retrying).toMatchObject({ attempts: 1, last_error: 'passes by', agent: 'a', turn_id: 'k' });
    await eventually(list, empty);
    expect(attempts).toEqual([1, 2, 2, 2, 2]);
  });

  it('again shows its reason until then and keeps everything else', async () => {
    await start(async () => ({ status: 'again', at: new Date(Date.now() + 60_000), reason: 'budget_exhausted' }));
    await enqueue('k', { queue: 'q', agent_id: 'a' });
    const [job] = await eventually(list, ([job]) => job?.status === 'retrying');
    expect(job).toMatchObject({ attempts: 0, last_error: 'budget_exhausted', agent: 'a', turn_id: 'k' });
    expect(Date.parse(job!.run_at)).toBeGreaterThan(Date.now() + 50_000);
    const [row] = await db.database.query(
      `select queue_name, max_attempts, key from graphile_worker.jobs where id = $1`,
      [job!.id],
    );
    expect(row).toEqual({ queue_name: 'q', max_attempts: 25, key: `${org}:work:k` });
  });

  it('a throw is tried again, and is dead after the last attempt', async () => {
    const died: string[] = [];
    const onDead = async ({ turn_id }: JobPayload, error: string): Promise<void> =>
      void died.push(`${turn_id}: ${error}`);
    const run: Run = async () => {
      throw new Error('broken');
    };
    await start(run, { onDead });
    await enqueue('k', { maxAttempts: 2 });
    await eventually(list, ([job]) => job?.status === 'retrying');
    expect(died).toEqual([]);
    const [dead] = await eventually(list, ([job]) => job?.status === 'dead');
    expect(dead).toMatchObject({ attempts: 2, last_error: 'broken' });
    expect(died).toEqual(['k: broken']);
  });

  it('dead stays visible and can be retried, with its handler in the same transaction', async () => {
    let ran = 0;
    let refuse = true;
    const retried: string[] = [];
    const onRetry = async ({ turn_id }: JobPayload): Promise<void> => {
      if (refuse) throw new Error('not yet');
      retried.push(turn_id!);
    };
    const run: Run = async () => (++ran === 1 ? { status: 'dead', error: 'refused: 401' } : undefined);
    const app = await start(run, { onRetry });
    await enqueue('k');
    const [dead] = await eventually(list, ([job]) => job?.status === 'dead');
    expect(dead).toMatchObject({ attempts: 1, last_error: 'refused: 401', turn_id: 'k' });
    await sleep(300);
    expect(ran).toBe(1);

    const service = app.get(Jobs);
    expect(await service.retry(randomUUID(), dead!.id)).toBeNull();
    expect(await service.retry(org, '999999999')).toBeNull();
    expect(await service.retry(org, 'x')).toBeNull();
    await expect(service.retry(org, dead!.id)).rejects.toThrow('not yet');
    expect((await list())[0]).toMatchObject({ status: 'dead' });
    refuse = false;
    await service.retry(org, dead!.id);
    await eventually(list, empty);
    expect(retried).toEqual(['k']);
    expect(ran).toBe(2);
  });

  it('only dead ones can be retried', async () => {
    const id = await enqueue('k', { runAt: new Date(Date.now() + 60_000) });
    await expect(jobs.retry(org, id)).rejects.toMatchObject({ status: 409, code: 'job.not_dead' });
  });

  it.each(['again', 'dead', 'done', 'throw'])(
    'a newer job with the key wins over one that ends with %s',
    async (end) => {
      const ran: string[] = [];
      await start(
        async ({ agent_id }): Promise<JobOutcome | void> => {
          ran.push(agent_id!);
          if (agent_id !== 'old') return;
          await enqueue('k', { agent_id: 'new' });
          if (end === 'throw') throw new Error('x');
          if (end === 'again') return { status: 'again', at: new Date(Date.now() + 60_000), reason: 'x' };
          if (end === 'dead') return { status: 'dead', error: 'x' };
        },
        { concurrency: 1 },
      );
      await enqueue('k', { agent_id: 'old' });
      await eventually(list, empty);
      await sleep(300);
      expect(ran).toEqual(['old', 'new']);
      expect(await list()).toEqual([]);
    },
  );

  it('a new job replaces a dead one', async () => {
    await start(async ({ agent_id }) => (agent_id === 'old' ? { status: 'dead', error: 'x' } : undefined));
    await enqueue('k', { agent_id: 'old' });
    await eventually(list, ([job]) => job?.status === 'dead');
    await enqueue('k', { agent_id: 'new' });
    await eventually(list, empty);
  });

  it('what newer jobs retired is swept, with the queues that are left', async () => {
    const app = await start(async ({ agent_id }) => (agent_id === 'old' ? { status: 'dead', error: 'x' } : undefined));
    await enqueue('k', { agent_id: 'old', queue: 'q' });
    await eventually(list, ([job]) => job?.status === 'dead');
    await enqueue('k', { agent_id: 'new', queue: 'q' });
    await enqueue('waits', { queue: 'r', runAt: new Date(Date.now() + 60_000) });
    await eventually(list, ({ length }) => length === 1);
    const left = () => db.database.query(`select id from graphile_worker.jobs where key is null`);
    expect(await left()).toHaveLength(1);
    for (const sweep of app.get(Sweeps).all()) expect(await sweep.run(new Date())).toBe(1);
    expect(await left()).toEqual([]);
    expect(await db.database.query(`select queue_name from graphile_worker._private_job_queues`)).toEqual([
      { queue_name: 'r' },
    ]);
  });
});

describe('the list', () => {
  it('is walked by cursor, newest first, and filtered', async () => {
    await db.database.transaction(async () => {
      for (let i = 0; i < 25; i++) await enqueue(`k${i}`, { agent_id: `a${i % 2}` });
    });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await jobs.list({ orgId: org, limit: 10, cursor });
      expect(page.total).toBe(25);
      seen.push(...page.items.map(({ turn_id }) => turn_id!));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `k${24 - i}`));
    expect(await jobs.list({ orgId: org, limit: 50, task: 'play' })).toMatchObject({ total: 0 });
    expect(await jobs.list({ orgId: org, limit: 50, status: 'pending' })).toMatchObject({ total: 25 });
    expect(await jobs.list({ orgId: org, limit: 50, status: 'dead' })).toMatchObject({ total: 0 });
  });

  it('says how long the oldest due job has waited', async () => {
    await enqueue('future', { runAt: new Date(Date.now() + 60_000) });
    expect((await jobs.list({ orgId: org, limit: 50 })).oldest_pending_seconds).toBe(0);
    await enqueue('late', { runAt: new Date(Date.now() - 90_000) });
    const { oldest_pending_seconds: oldest } = await jobs.list({ orgId: org, limit: 50, task: 'play' });
    expect(oldest).toBeGreaterThanOrEqual(90);
    expect(oldest).toBeLessThan(100);
    expect(await jobs.backlog()).toEqual([{ task: 'work', status: 'pending', jobs: 2, oldest_seconds: oldest }]);
  });
});

describe('on demand', () => {
  const ran: JobHandler = { task: 'plain', run: async () => undefined, onDemand: true };
  const made: JobHandler = {
    task: 'made',
    run: async () => undefined,
    onDemand: async (orgId, { agent }) => ({ key: String(agent), payload: { org_id: orgId, agent_id: String(agent) } }),
  };
  const closed: JobHandler = { task: 'closed', run: async () => undefined };

  it('starts what its handler allows', async () => {
    const service = clientOf(db.database, [ran, made, closed]);
    const first = await service.demand(org, 'plain', {});
    expect(await service.demand(org, 'plain', {})).toBe(first);
    await service.demand(org, 'made', { agent: 'a' });
    expect((await list()).map(({ task, agent }) => ({ task, agent }))).toEqual([
      { task: 'made', agent: 'a' },
      { task: 'plain', agent: null },
    ]);
    await expect(service.demand(org, 'plain', { agent: 'a' })).rejects.toMatchObject({ status: 422 });
    for (const task of ['closed', 'unknown']) {
      await expect(service.demand(org, task, {})).rejects.toMatchObject({ status: 404, code: 'job.unknown_task' });
    }
  });
});

describe('schedules', () => {
  /** When the schedule of `work` is due next. */
  const nextTime = async (): Promise<Date> => {
    const times = await db.database.query<{ run_at: Date }>(
      `select run_at from graphile_worker.jobs where task_identifier = 'schedule' and key like '%work%'`,
    );
    expect(times).toHaveLength(1);
    return times[0]!.run_at;
  };
  const makeDue = (): Promise<unknown> =>
    db.database.query(
      `update graphile_worker._private_jobs set run_at = now() where key like '%work%' and task_id =
         (select id from graphile_worker._private_tasks where identifier = 'schedule')`,
    );
  /** Between the starts of a test lie seconds at most. */
  const HOUR = { everySeconds: 3_600, due: async () => [{ key: 'k', payload: { org_id: org } }] };
  const isIn = (time: Date, seconds: number, since: number): void => {
    expect(time.getTime() - since).toBeGreaterThan((seconds - 60) * 1_000);
    expect(time.getTime() - since).toBeLessThan((seconds + 60) * 1_000);
  };

  it('are due once an interval, whatever the number of replicas and restarts', async () => {
    let ran = 0;
    const run: Run = async () => void ran++;
    const options = { schedule: HOUR, concurrency: 2 };
    const began = Date.now();
    const first = await start(run, options);
    const due = await nextTime();
    isIn(due, 3_600, began);
    await start(run, options);
    await first.close();
    apps = apps.filter((app) => app !== first);
    await start(run, options);
    expect(await nextTime()).toEqual(due);
    expect(ran).toBe(0);
    await makeDue();
    await eventually(
      () => ran,
      (count) => count === 1,
    );
    isIn(await eventually(nextTime, (time) => time.getTime() > Date.now()), 3_600, Date.now());
    expect(ran).toBe(1);
  });

  it('that say so are due soon after a start, and then once an interval', async () => {
    let ran = 0;
    const run: Run = async () => void ran++;
    const schedule = { ...HOUR, firstAfterSeconds: 0.3 };
    await start(run, { schedule });
    await eventually(
      () => ran,
      (count) => count === 1,
    );
    isIn(await eventually(nextTime, (time) => time.getTime() > Date.now() + 60_000), 3_600, Date.now());
    // A start brings the next time forward, however long it would have been.
    await start(run, { schedule });
    await eventually(
      () => ran,
      (count) => count === 2,
    );
  });

  it('are never later than their interval, whatever they say of the first time', async () => {
    let ran = 0;
    const run: Run = async () => void ran++;
    const due = async () => [{ key: 'k', payload: { org_id: org } }];
    await start(run, { schedule: { everySeconds: 0.2, firstAfterSeconds: 3_600, due } });
    await eventually(
      () => ran,
      (count) => count > 0,
    );
  });

  it('go on after a failure and end with their handler', async () => {
    let asked = 0;
    const due = async (): Promise<never[]> => {
      asked++;
      throw new Error('no');
    };
    const app = await start(async () => undefined, { schedule: { everySeconds: 0.2, due } });
    await eventually(
      () => asked,
      (count) => count >= 2,
    );
    await app.close();
    apps = [];
    await start(async () => undefined);
    const ticks = () =>
      db.database.query(`select id from graphile_worker.jobs where key = $1`, [`${SERVICE_ORG}:schedule:work`]);
    await eventually(ticks, empty);
  });
});

describe('a shutdown', () => {
  it('tells the handlers; what they break off runs again and spends no attempt', async () => {
    const attempts: number[] = [];
    const run: Run = async (_, { attempt, signal }) => {
      attempts.push(attempt);
      if (attempts.length === 1) await sleep(60_000, undefined, { signal });
    };
    const app = await start(run);
    await enqueue('k', { queue: 'q' });
    await eventually(
      () => attempts.length,
      (count) => count === 1,
    );
    const began = Date.now();
    await app.close();
    apps = [];
    expect(Date.now() - began).toBeLessThan(400);
    expect((await list())[0]).toMatchObject({
      status: 'retrying',
      attempts: 0,
      last_error: 'interrupted by a shutdown',
    });
    await start(run);
    await eventually(list, empty);
    expect(attempts).toEqual([1, 1]);
  });

  it('waits for those that end in time', async () => {
    let ended = false;
    const app = await start(async () => {
      await sleep(250);
      ended = true;
    });
    await enqueue('k');
    await eventually(list, ([job]) => job?.status === 'running');
    await app.close();
    apps = [];
    expect(ended).toBe(true);
    expect(await list()).toEqual([]);
  });

  it('gives back those that do not, and their end counts no more', async () => {
    const attempts: number[] = [];
    let letGo: () => void = () => undefined;
    const run: Run = async (_, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length === 1) await new Promise<void>((resolve) => (letGo = resolve));
    };
    const app = await start(run);
    await enqueue('k', { queue: 'q' });
    await eventually(
      () => attempts.length,
      (count) => count === 1,
    );
    await app.close();
    apps = [];
    expect((await list())[0]).toMatchObject({ status: 'pending', attempts: 0 });
    letGo();
    await sleep(100);
    expect(await list()).toHaveLength(1);
    await start(run);
    await eventually(list, empty);
    expect(attempts).toEqual([1, 1]);
    expect(await db.database.query(`select from job_worker_heartbeats`)).toHaveLength(
      db.connection.mode === 'embedded' ? 0 : 4,
    );
  });
});

describe('a crash', () => {
  it('in the middle of a job has it run again soon after', async () => {
    const killed = new TestProcess('job-process.ts', { args: [JSON.stringify({ address: db.address })] });
    await killed.wrote(1);
    await enqueue('k', { queue: 'q' });
    await killed.wrote(2);
    expect((await list())[0]).toMatchObject({ status: 'running', attempts: 1 });
    await killed.end('SIGKILL');
    const attempts: number[] = [];
    const began = Date.now();
    await start(async (_, { attempt }) => void attempts.push(attempt));
    await eventually(list, empty);
    expect(attempts).toEqual([2]);
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it('of a worker has its job run again and the others go on', async () => {
    // graphile-worker writes there whatever the logger.
    const trace = jest.spyOn(console, 'trace').mockReturnValue();
    try {
      let ran = 0;
      await start(async () => void ran++, { concurrency: 1 });
      await db.database.query(`
        create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`);
      try {
        await db.database.query(`
          create trigger refuse before delete on graphile_worker._private_jobs for each row execute function refuse()`);
        await enqueue('k');
        await eventually(
          () => ran,
          (count) => count >= 2,
        );
      } finally {
        await db.database.query(`drop function refuse cascade`);
      }
      await eventually(list, empty);
      await enqueue('another');
      await eventually(list, empty);
    } finally {
      trace.mockRestore();
    }
  });

  if (!process.env.DATABASE_URL) return; // The embedded database has one process, so no replicas.

  it('of a replica has another take its jobs, once it is silent', async () => {
    const replica = new TestProcess('job-process.ts', { args: [JSON.stringify({ address: db.address })] });
    await replica.wrote(1);
    await enqueue('k', { queue: 'q' });
    await replica.wrote(2);
    const attempts: number[] = [];
    await start(async (_, { attempt }) => void attempts.push(attempt));
    await enqueue('follows', { queue: 'q' });
    await sleep(2_000);
    expect(attempts).toEqual([]);
    await replica.end('SIGKILL');
    await eventually(list, empty);
    expect(attempts.sort()).toEqual([1, 2]);
  });

  it('leaves no queue locked where two replicas had one job', async () => {
    let ran = 0;
    const gates: (() => void)[] = [];
    // The first never says that it lives.
    const run: Run = async () => {
      if (++ran < 3) await new Promise<void>((resolve) => gates.push(resolve));
    };
    await start(run, { concurrency: 1, timings: { heartbeat: 600_000 } });
    await enqueue('k', { queue: 'q' });
    await eventually(
      () => ran,
      (count) => count === 1,
    );
    await start(run, { concurrency: 1 });
    await eventually(
      () => ran,
      (count) => count === 2,
    );
    gates[0]!();
    await eventually(list, empty);
    gates[1]!();
    await enqueue('follows', { queue: 'q' });
    await eventually(list, empty);
    expect(ran).toBe(3);
  });
});
