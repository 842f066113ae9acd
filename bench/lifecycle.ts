import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ServiceProcess } from '../test/support/service-process.js';
import { type Bench, printTable, timed } from './bench.js';
import { randomNumbers } from './random-numbers.js';

const EPISODES = 50_000;
const BOUND = 500;
const BATCH = 1_000;
const TOOLS = 40;
const DAY_MS = 24 * 60 * 60 * 1000;

/** One pass of the lifecycle over an agent that has far too many episodes: what stays, how long it takes, and in how much memory. */
export async function lifecycle(bench: Bench): Promise<void> {
  const { service, model } = await bench.start();
  model.reply(
    'episode_compactor',
    JSON.stringify({
      common_task_pattern: 'Requests of one kind',
      common_outcome: 'Most were done.',
      subjects_involved: [],
      notable_patterns: '',
    }),
  );
  const client = await bench.connect();
  const { body } = await service.post<{ agent_id: string }>('/agents/busy/plan-context', {
    turn_id: randomUUID(),
    role: 'bench',
    task_description: '',
  });
  await write(client, body.agent_id);
  const before = await residentMegabytes(service);
  let most = before;
  const { ms } = await timed(async () => {
    await service.post('/jobs/compact-episodes', { agent: 'busy' });
    while (await atWork(service)) {
      most = Math.max(most, await residentMegabytes(service));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  });
  const count = async (kind: string): Promise<number> =>
    (await service.get<{ total: number }>(`/agents/busy/episodes?limit=1&kind=${kind}`)).total;
  const [raw, compacted] = [await count('raw'), await count('compacted')];
  console.log(`${model.requestsOf('episode_compactor').length} calls of a model that answers at once`);
  printTable([
    ['raw before', 'raw after', 'compacted', 'seconds', 'resident MB before', 'most', 'added'],
    [String(EPISODES), String(raw), String(compacted), ms / 1000, before, most, most - before],
  ]);
  if (raw > BOUND) throw new Error(`${raw} raw episodes are left of a bound of ${BOUND}`);
}

/** As the service writes them, by a statement a thousand: half of them old enough to be compacted for their age. */
async function write(client: pg.Client, agentId: string): Promise<void> {
  const next = randomNumbers(50);
  const { rows } = await client.query<{ id: string }>('select id from organizations');
  const start = Date.now() - 60 * DAY_MS;
  for (let batch = 0; batch < EPISODES / BATCH; batch++) {
    const episodes = Array.from({ length: BATCH }, (_, index) => {
      const number = batch * BATCH + index;
      const at = new Date(start + (number * 60 * DAY_MS) / EPISODES);
      const kind = Math.floor(next() * 200);
      const tools = Array.from({ length: 3 + (kind % 6) }, (_, step) => `tool-${(kind * 7 + step * 11) % TOOLS}`);
      if (next() < 0.3) tools.push(`tool-${Math.floor(next() * TOOLS)}`);
      return { id: randomUUID(), at, task: `Request ${number} of kind ${kind}`, tools, done: next() < 0.8 };
    });
    await client.query(
      `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, turn_id, kind, count,
         task_summary, plan_summary, plan_decision, engaged, tool_sequence, skills_used, review_outcome, ended_at,
         duration_ms, work_key, subjects_involved, exemplar_turn_ids, is_exemplar, source_turn_ids, search,
         search_length, created_at)
       select id, at, $2, $3, 'busy', 'bench', id, 'raw', 1, task, '', 'plan', true, tools, '[]',
         case when done then 'done' else 'failed' end, at, 0, '', '[]', '[]', false, jsonb_build_array(id),
         to_tsvector('english', task), 5, at
       from jsonb_to_recordset($1::jsonb) as given(id uuid, at timestamptz, task text, tools jsonb, done boolean)`,
      [JSON.stringify(episodes), rows[0]!.id, agentId],
    );
  }
  await client.query('analyze episodes');
}

async function atWork(service: ServiceProcess): Promise<boolean> {
  const { items } = await service.get<{ items: { status: string }[] }>('/jobs?task=compact-episodes');
  if (items.some(({ status }) => status === 'dead')) throw new Error('the pass is dead');
  return items.length > 0;
}

async function residentMegabytes(service: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const [, bytes] = /^\S*process_resident_memory_bytes (\S+)$/m.exec(metrics) ?? [];
  if (bytes === undefined) throw new Error('/metrics does not tell the resident memory');
  return Number(bytes) / 1e6;
}
