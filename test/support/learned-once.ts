import { expect } from '@jest/globals';
import type { ServiceProcess } from './service-process.js';
import { allEnded, memoriesByTurn, type TurnState } from './trial.js';
import type { TurnBody } from './turns.js';

/** Waits for the end, and holds ledger and memories to one of each turn. */
export async function expectEachLearnedOnce(service: ServiceProcess, turns: readonly TurnBody[]): Promise<void> {
  await allEnded(service, turns);
  for (const turn of turns) {
    const { reflection } = await service.get<TurnState>(`/turns/${turn.turn_id}`);
    expect(reflection.status).toBe('done');
    const deciders = reflection.workers.filter(({ worker }) => worker === 'persist_decider');
    expect(deciders).toMatchObject([{ status: 'done' }]);
  }
  const memories = await memoriesByTurn(service, turns);
  expect([...memories.values()].filter((count) => count !== 1)).toEqual([]);
  expect(memories.size).toBe(turns.length);
}
