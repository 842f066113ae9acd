import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ServiceProcess } from '../test/support/service-process.js';
import { type Bench, printTable, quantiles, type Row, timed } from './bench.js';

const FILE = new URL('../../shared/data/tau-bench/turns.ndjson', import.meta.url);

interface Turn {
  turn_id: string;
  agent: string;
  task_id: string;
  task_description: string;
  review_outcome: string;
}

interface ToolAnswer {
  data: { episodes: { turn_id: string }[] };
}

/**
 * Whether an agent that has done a task before finds that turn by the first message of the next one: 200 turns of
 * tau-bench as episodes of one agent, each asked for by `query_episodes`.
 */
export async function priorWork(bench: Bench): Promise<void> {
  if (!existsSync(FILE)) return console.log('skipped: ../shared/data/tau-bench is absent');
  const { service } = await bench.start();
  const lines = readFileSync(FILE, 'utf8').trim().split('\n');
  const turns = lines.map((line) => JSON.parse(line) as Turn);
  const body = { turns: turns.map((turn) => ({ ...turn, agent: 'one' })), reflect: false };
  const { status } = await service.post('/turns/batch', body);
  if (status !== 200) throw new Error(`POST /turns/batch: ${status}`);

  const done = turns.filter((turn) => turn.review_outcome === 'done');
  const sameElsewhere = (turn: Turn): Turn[] =>
    done.filter((other) => other.task_id === turn.task_id && other.agent !== turn.agent);
  const asking = turns.filter((turn) => sameElsewhere(turn).length > 0);
  const [found, times] = [[0, 0, 0], [] as number[]];
  for (const turn of asking) {
    const { ms, value } = await timed(() => recalled(service, turn));
    times.push(ms);
    const wanted = new Set(sameElsewhere(turn).map((other) => other.turn_id));
    const first = value.filter((id) => id !== turn.turn_id).slice(0, 3);
    [1, 2, 3].forEach((top, index) => {
      if (first.slice(0, top).some((id) => wanted.has(id))) found[index]!++;
    });
  }
  console.log(`${asking.length} of ${turns.length} turns have a done turn of the same task in another trial`);
  const shares: Row = found.map((count) => `${((100 * count) / asking.length).toFixed(1)} %`);
  printTable([
    ['', 'top 1', 'top 2', 'top 3', 'p50 ms', 'p95 ms'],
    ['found', ...shares, ...quantiles(times, 0.5, 0.95)],
  ]);
}

async function recalled(service: ServiceProcess, turn: Turn): Promise<string[]> {
  const { status, body } = await service.post<ToolAnswer>('/agents/one/tools/query_episodes', {
    turn_id: randomUUID(),
    phase: 'plan',
    arguments: { query: turn.task_description, outcome_filter: 'done', limit: 4 },
  });
  if (status !== 200) throw new Error(`query_episodes: ${status} ${JSON.stringify(body)}`);
  return body.data.episodes.map((episode) => episode.turn_id);
}
