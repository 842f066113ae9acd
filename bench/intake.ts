import { randomUUID } from 'node:crypto';
import type { ScriptedModel } from '../test/support/scripted-model.js';
import type { ServiceProcess } from '../test/support/service-process.js';
import { manyTurns } from '../test/support/tau-bench.js';
import { allEnded } from '../test/support/trial.js';
import type { TurnBody } from '../test/support/turns.js';
import { type Bench, printTable, quantiles, timed } from './bench.js';

const AT_A_TIME = 8;
/** Turns that are being reflected on while plan contexts are asked for. */
const TURNS_MEANWHILE = 40;

/** Turns in, reflections done, plan contexts out. The scripted model answers at once: what is measured is the service. */
export async function intake(bench: Bench): Promise<void> {
  const { source, turns } = manyTurns();
  const { service, model } = await bench.start();
  teach(model, turns);
  const start = performance.now();
  const posted = await post(service, turns);
  const speed = (1_000 * turns.length) / (performance.now() - start);
  await allEnded(service, turns);
  const reflectedMs = (performance.now() - start).toFixed(0);
  const idle = await planContexts(service, turns, 'selected');
  await post(service, someAgain(turns));
  const healthy = await planContexts(service, turns, 'selected');
  model.reset();
  model.reply('*', { status: 429 });
  await post(service, someAgain(turns));
  const failing = await planContexts(service, turns, 'model_unavailable');

  console.log(`${turns.length} turns (${source}), ${speed.toFixed(0)}/s; all reflected on in ${reflectedMs} ms`);
  printTable([
    ['', 'p50 ms', 'p95 ms', 'slowest ms'],
    ['POST /turns', ...quantiles(posted, 0.5, 0.95, 1)],
    ['plan-context, nothing else to do', ...quantiles(idle, 0.5, 0.95, 1)],
    ['plan-context, turns being reflected on', ...quantiles(healthy, 0.5, 0.95, 1)],
    ['plan-context, the same, model fails', ...quantiles(failing, 0.5, 0.95, 1)],
  ]);
  const ratio = quantiles(failing, 0.95)[0]! / quantiles(healthy, 0.95)[0]!;
  console.log(`p95 with the failing model / with the healthy one: ${ratio.toFixed(2)}`);
}

/** Every turn leads to a memory of its own, and every memory block to a selection. */
function teach(model: ScriptedModel, turns: readonly TurnBody[]): void {
  let count = 0;
  model.reply('persist_decider', () => {
    const asked = turns[count++ % turns.length]!.task_description as string;
    return JSON.stringify({ kind: 'LONG', content: `Request ${count} was: ${asked.slice(0, 300)}` });
  });
  model.reply('memory_filter', '[1, 2, 3]');
  model.reply('summarize_episodes', 'Similar requests were answered after looking up the reservation.');
}

async function post(service: ServiceProcess, turns: readonly TurnBody[]): Promise<number[]> {
  const times: number[] = [];
  const queue = turns.values();
  const worker = async (): Promise<void> => {
    for (const turn of queue) {
      const { ms, value } = await timed(() => service.post('/turns', turn));
      if (value.status !== 202) throw new Error(`POST /turns: ${value.status} ${JSON.stringify(value.body)}`);
      times.push(ms);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return times;
}

function someAgain(turns: readonly TurnBody[]): TurnBody[] {
  return turns.slice(0, TURNS_MEANWHILE).map((turn) => ({ ...turn, turn_id: randomUUID(), trigger_event_ids: [] }));
}

/** A plan context for what each turn was about, one after another; nine in ten memory blocks must end as expected. */
async function planContexts(service: ServiceProcess, turns: readonly TurnBody[], expected: string): Promise<number[]> {
  const times: number[] = [];
  let asExpected = 0;
  for (const { agent, task_description, interactions } of turns) {
    const asked = { turn_id: randomUUID(), task_description, interactions };
    const { ms, value } = await timed(() => service.postText(`/agents/${agent}/plan-context`, asked));
    if (value.status !== 200) throw new Error(`plan-context: ${value.status} ${value.text}`);
    times.push(ms);
    const { blocks } = JSON.parse(value.text) as { blocks: { key: string; reason: string }[] };
    if (blocks.some(({ key, reason }) => key === 'personal_memory' && reason === expected)) asExpected += 1;
  }
  if (asExpected < 0.9 * turns.length) throw new Error(`${expected}: ${asExpected} of ${turns.length} memory blocks`);
  return times;
}
