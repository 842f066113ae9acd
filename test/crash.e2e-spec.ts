import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resetDatabase } from './support/database.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { manyTurns } from './support/tau-bench.js';
import { expectEachLearnedOnce } from './support/learned-once.js';
import { postAll, rowCounts, type Receipt } from './support/trial.js';

const { source, turns } = manyTurns();

describe(`a service that is killed while it learns from ${source}`, () => {
  let model: ScriptedModel;
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  let service: ServiceProcess;
  const env = (): Record<string, string> => ({
    ...database.env,
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: model.anthropicUrl,
  });

  beforeAll(async () => {
    await resetDatabase();
    model = await ScriptedModel.start();
    let calls = 0;
    // No two answers are alike, so a turn that was reflected on twice would show as two memories.
    model.reply('persist_decider', async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return JSON.stringify({ kind: 'LONG', content: `Fact number ${(calls += 1)} of the trial.` });
    });
    database = await serviceDatabase();
    service = await ServiceProcess.start(env());
  }, 60_000);

  afterAll(async () => {
    await service.end('SIGTERM');
    await model.close();
    await database.remove();
  });

  it('has reflected on every accepted turn exactly once after three kills', async () => {
    const receipts = new Map<string, Receipt>();
    for (const killAfter of [40, 100, 170]) {
      await postAll(service, turns, receipts, killAfter);
      await service.end('SIGKILL');
      service = await ServiceProcess.start(env());
    }
    await postAll(service, turns, receipts, Infinity);
    expect(receipts.size).toBe(turns.length);

    await expectEachLearnedOnce(service, turns);
    expect(await service.get('/jobs?task=reflect-turn')).toMatchObject({ total: 0 });
  }, 120_000);

  it('answers a second replay with duplicates and stores not one row more', async () => {
    const before = await rowCounts(service, turns);
    const again = new Map<string, Receipt>();
    await postAll(service, turns, again, Infinity);
    expect([...again.values()].map(({ status }) => status)).toEqual(turns.map(() => 'duplicate'));
    expect(await rowCounts(service, turns)).toEqual(before);
    expect(before.episodes).toBe(turns.length);
  }, 60_000);

  it('ends with code 0 when asked to', async () => {
    expect(await service.end('SIGTERM')).toBe(0);
    service = await ServiceProcess.start(env());
  }, 60_000);
});
