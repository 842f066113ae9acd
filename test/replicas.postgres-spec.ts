import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emptyDatabase } from './support/postgres-clones.js';
import { resetDatabase } from './support/database.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { manyTurns } from './support/tau-bench.js';
import { expectEachLearnedOnce } from './support/learned-once.js';
import { allEnded, memoriesByTurn, postAll, type Receipt } from './support/trial.js';
import { aMessage, aTurn } from './support/turns.js';

describe('replicas on one Postgres', () => {
  let model: ScriptedModel;
  const services = new Set<ServiceProcess>();
  const start = async (env: Record<string, string>): Promise<ServiceProcess> => {
    const service = await ServiceProcess.start({
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: model.anthropicUrl,
      ...env,
    });
    services.add(service);
    return service;
  };

  beforeAll(async () => {
    await resetDatabase();
    model = await ScriptedModel.start();
    let calls = 0;
    model.reply('persist_decider', async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return JSON.stringify({ kind: 'LONG', content: `Fact number ${(calls += 1)} of the trial.` });
    });
    model.reply('memory_filter', () => JSON.stringify([1 + Math.floor(Math.random() * 3)]));
  });

  afterAll(async () => {
    await Promise.all([...services].map((service) => service.end('SIGTERM')));
    await model.close();
  });

  it('reflect on every accepted turn exactly once although one of them is killed under load', async () => {
    const { env } = await serviceDatabase();
    const [first, second] = await Promise.all([start(env), start(env)]);
    const { turns } = manyTurns();
    const receipts = new Map<string, Receipt>();
    await Promise.all([
      postAll(first, turns.slice(0, 100), receipts, 60),
      postAll(second, turns.slice(100), receipts, 120),
    ]);
    services.delete(first);
    await first.end('SIGKILL');
    await postAll(second, turns, receipts, Infinity);
    expect(receipts.size).toBe(turns.length);

    await expectEachLearnedOnce(second, turns);
  }, 150_000);

  it('answer the same bytes to a plan context asked of both at the same moment', async () => {
    const { env } = await serviceDatabase();
    const pair = await Promise.all([start(env), start(env)]);
    for (let round = 0; round < 10; round++) {
      const request = { turn_id: randomUUID(), task_description: 'Book a flight', interactions: [aMessage()] };
      const answers = await Promise.all(
        [...pair, ...pair].map((service) => service.postText('/agents/support-1/plan-context', request)),
      );
      expect(answers[0]).toMatchObject({ status: 200, text: expect.stringContaining(request.turn_id) });
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }
  }, 90_000);

  it('write one row for one memory that is written through both at once', async () => {
    const { env } = await serviceDatabase();
    const pair = await Promise.all([start(env), start(env)]);
    await pair[0].post('/turns', aTurn({ agent: 'writer', interactions: [] }));
    const written = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        pair[index % 2]!.post<{ id: string }>('/agents/writer/diary', {
          kind: 'diary_long',
          content: 'Written at once.',
        }),
      ),
    );
    expect(written.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(written.map(({ body }) => body.id)).size).toBe(1);
  }, 90_000);

  it('come up when three start at once on an empty database, and share the work', async () => {
    const empty = await emptyDatabase(process.env.DATABASE_URL!);
    const trio = await Promise.all([1, 2, 3].map(() => start({ DATABASE_URL: empty.urls[0]! })));
    try {
      const turns = Array.from({ length: 30 }, (_, index) =>
        aTurn({ agent: `agent-${index}`, interactions: [aMessage({ body: `Message ${index}` })] }),
      );
      const receipts = new Map<string, Receipt>();
      await Promise.all(
        trio.map((service, index) => postAll(service, turns.slice(index * 10, index * 10 + 10), receipts, 30)),
      );
      expect([...receipts.values()].map(({ status }) => status)).toEqual(turns.map(() => 'accepted'));
      await allEnded(trio[0]!, turns);
      const memories = await memoriesByTurn(trio[1]!, turns);
      expect([...memories.values()]).toEqual(turns.map(() => 1));
    } finally {
      for (const service of trio) {
        services.delete(service);
        expect(await service.end('SIGTERM')).toBe(0);
      }
      await empty.drop();
    }
  }, 120_000);
});
