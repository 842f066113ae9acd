import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resetDatabase } from './support/database.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { manyTurns } from './support/tau-bench.js';
import type { TurnBody } from './support/turns.js';

interface Receipt {
  turn_id: string;
  episode_id: string;
  status: string;
}

interface TurnState {
  reflection: { status: string; workers: { worker: string; status: string }[] };
}

const { source, turns } = manyTurns();
const agents = [...new Set(turns.map((turn) => turn.agent))];

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
      const posting = postAll(service, turns, receipts, killAfter);
      await posting;
      await service.end('SIGKILL');
      service = await ServiceProcess.start(env());
    }
    await postAll(service, turns, receipts, Infinity);
    expect(receipts.size).toBe(turns.length);

    await allEnded(service, turns);
    for (const turn of turns) {
      const { reflection } = await service.get<TurnState>(`/turns/${turn.turn_id}`);
      expect(reflection).toMatchObject({ status: 'done', workers: [{ worker: 'persist_decider', status: 'done' }] });
    }
    const memories = await memoriesByTurn(service);
    expect([...memories.values()].filter((count) => count !== 1)).toEqual([]);
    expect(memories.size).toBe(turns.length);
    expect(await service.get('/jobs')).toMatchObject({ total: 0 });
  }, 120_000);

  it('answers a second replay with duplicates and stores not one row more', async () => {
    const before = await rowCounts(service);
    const again = new Map<string, Receipt>();
    await postAll(service, turns, again, Infinity);
    expect([...again.values()].map(({ status }) => status)).toEqual(turns.map(() => 'duplicate'));
    expect(await rowCounts(service)).toEqual(before);
    expect(before.episodes).toBe(turns.length);
  }, 60_000);

  it('ends with code 0 when asked to', async () => {
    expect(await service.end('SIGTERM')).toBe(0);
    service = await ServiceProcess.start(env());
  }, 60_000);
});

/** Posts eight at a time, those without a receipt first, until `enough` have one; what is unanswered is left. */
async function postAll(
  service: ServiceProcess,
  wanted: readonly TurnBody[],
  receipts: Map<string, Receipt>,
  enough: number,
): Promise<void> {
  const queue = wanted.filter((turn) => !receipts.has(turn.turn_id));
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let turn = queue.shift(); turn && receipts.size < enough; turn = queue.shift()) {
        const { status, body } = await service.post<Receipt>('/turns', turn);
        expect([200, 202]).toContain(status);
        receipts.set(turn.turn_id, body);
      }
    }),
  );
}

async function allEnded(service: ServiceProcess, wanted: readonly TurnBody[]): Promise<void> {
  const open = new Set(wanted.map((turn) => turn.turn_id));
  const deadline = Date.now() + 90_000;
  while (open.size > 0) {
    for (const turnId of open) {
      const { reflection } = await service.get<TurnState>(`/turns/${turnId}`);
      if (['done', 'skipped', 'dead'].includes(reflection.status)) open.delete(turnId);
    }
    if (Date.now() > deadline) throw new Error(`${open.size} turns are not reflected on`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function memoriesByTurn(service: ServiceProcess): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const agent of agents) {
    for (const { turn_id: turnId } of await service.all<{ turn_id: string }>(`/agents/${agent}/diary`)) {
      counts.set(turnId, (counts.get(turnId) ?? 0) + 1);
    }
  }
  return counts;
}

async function rowCounts(service: ServiceProcess): Promise<{ memories: number; episodes: number }> {
  const counts = { memories: 0, episodes: 0 };
  for (const agent of agents) {
    const { totals } = await service.get<{ totals: { long: number; episodes: number } }>(`/agents/${agent}/memory`);
    counts.memories += totals.long;
    counts.episodes += totals.episodes;
  }
  return counts;
}
