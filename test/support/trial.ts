import { expect } from '@jest/globals';
import type { ServiceProcess } from './service-process.js';
import type { TurnBody } from './turns.js';

export interface Receipt {
  turn_id: string;
  episode_id: string;
  status: string;
}

export interface TurnState {
  reflection: { status: string; workers: { worker: string; status: string }[] };
}

/** Posts eight at a time, those without a receipt first, until `enough` have one; what is unanswered is left. */
export async function postAll(
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
        if (status !== 200 && status !== 202) throw new Error(`POST /turns: ${status} ${JSON.stringify(body)}`);
        receipts.set(turn.turn_id, body);
      }
    }),
  );
}

/** Waits until the reflection on each has ended. */
export async function allEnded(service: ServiceProcess, wanted: readonly TurnBody[]): Promise<void> {
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

/** Waits for the end, and holds ledger and memories to one of each turn. */
export async function expectEachLearnedOnce(service: ServiceProcess, turns: readonly TurnBody[]): Promise<void> {
  await allEnded(service, turns);
  for (const turn of turns) {
    const { reflection } = await service.get<TurnState>(`/turns/${turn.turn_id}`);
    expect(reflection).toMatchObject({
      status: 'done',
      workers: expect.arrayContaining([expect.objectContaining({ worker: 'persist_decider', status: 'done' })]),
    });
  }
  const memories = await memoriesByTurn(service, turns);
  expect([...memories.values()].filter((count) => count !== 1)).toEqual([]);
  expect(memories.size).toBe(turns.length);
}

/** How many memories each turn has led to. */
export async function memoriesByTurn(
  service: ServiceProcess,
  wanted: readonly TurnBody[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const agent of agentsOf(wanted)) {
    for (const { turn_id: turnId } of await service.all<{ turn_id: string }>(`/agents/${agent}/diary`)) {
      counts.set(turnId, (counts.get(turnId) ?? 0) + 1);
    }
  }
  return counts;
}

export async function rowCounts(
  service: ServiceProcess,
  wanted: readonly TurnBody[],
): Promise<{ memories: number; episodes: number }> {
  const counts = { memories: 0, episodes: 0 };
  for (const agent of agentsOf(wanted)) {
    const { totals } = await service.get<{ totals: { long: number; episodes: number } }>(`/agents/${agent}/memory`);
    counts.memories += totals.long;
    counts.episodes += totals.episodes;
  }
  return counts;
}

function agentsOf(turns: readonly TurnBody[]): string[] {
  return [...new Set(turns.map((turn) => turn.agent))];
}
