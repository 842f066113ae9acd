import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { LoopbackServer } from '../test/support/loopback-server.js';
import type { ServiceProcess } from '../test/support/service-process.js';
import { type Bench, printTable, quantiles, type Row, timed } from './bench.js';
import { randomNumbers } from './random-numbers.js';

const FILE = new URL('../../shared/data/vectors/embeddings.bin', import.meta.url);
const MODEL = 'given';
const DIMENSIONS = 384;
/** A component, so that no two vectors are equal. */
const NOISE = 0.03;
const QUERIES = 200;
/** How often each query is asked; the first time warms up. */
const ROUNDS = 3;

interface Memory {
  id: string;
  agentId: string;
  vector: number[];
}

interface Crowd {
  agents: string[];
  memories: Map<string, Memory[]>;
  queries: { text: string; vector: number[]; agentId: string }[];
}

/** The vector search within one agent among many others, over HTTP: what it finds, and what it takes beside the bare statement. */
export async function search(bench: Bench): Promise<void> {
  if (!existsSync(FILE)) return console.log('skipped: ../shared/data/vectors is absent');
  const rows: Row[] = [['', 'recall@10', 'bare SQL p50 ms', 'service p50 ms', 'p95 ms', 'p50 ratio']];
  for (const [agents, each, clients] of [
    [100, 1_000, 1],
    [20, 500, 8],
  ] as const) {
    const named = new Map<string, number[]>();
    const embedder = await embedderOf(named);
    bench.defer(() => embedder.close());
    const { service } = await bench.start({
      embeddings: { provider: 'openai_compatible', model: MODEL, base_url: `${embedder.url}/v1` },
    });
    const connections = await Promise.all(Array.from({ length: clients }, () => bench.connect()));
    const crowd = await crowdOf(service, agents, each);
    for (const { text, vector } of crowd.queries) named.set(text, vector);
    await write(connections[0]!, crowd);
    const label = `${agents} agents x ${each} memories, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
    rows.push([label, ...(await measured(service, connections, crowd))]);
    await bench.stop();
  }
  printTable(rows);
}

/** An embeddings server that knows the queries. */
function embedderOf(named: Map<string, number[]>): Promise<LoopbackServer> {
  return LoopbackServer.start(({ body }) => {
    const texts = [(body as { input: string | string[] }).input].flat();
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: named.get(text) ?? unit(() => 1),
    }));
    return { status: 200, body: { object: 'list', model: MODEL, data, usage: { prompt_tokens: 1, total_tokens: 1 } } };
  });
}

async function crowdOf(service: ServiceProcess, count: number, each: number): Promise<Crowd> {
  const bytes = readFileSync(FILE);
  const real = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const next = randomNumbers(384);
  const near = (): number[] => {
    const start = Math.floor((next() * real.length) / DIMENSIONS) * DIMENSIONS;
    return unit((index) => real[start + index]! + NOISE * gaussian(next));
  };
  const agents: string[] = [];
  for (let index = 0; index < count; index++) {
    const { body } = await service.post<{ agent_id: string }>(`/agents/agent-${index}/plan-context`, {
      turn_id: randomUUID(),
      role: 'bench',
      task_description: '',
    });
    agents.push(body.agent_id);
  }
  const memories = new Map(
    agents.map((agentId) => [
      agentId,
      Array.from({ length: each }, () => ({ id: randomUUID(), agentId, vector: near() })),
    ]),
  );
  const queries = Array.from({ length: QUERIES }, (_, index) => ({
    text: `needle${index}`,
    vector: near(),
    agentId: agents[index % agents.length]!,
  }));
  return { agents, memories, queries };
}

/** As the service writes them. One by one over HTTP it would take an hour, and it is reading that is measured. */
async function write(client: pg.Client, { memories }: Crowd): Promise<void> {
  const { rows } = await client.query<{ id: string }>('select id from organizations');
  for (const [agentId, own] of memories) {
    const values = own.map(({ id, vector }, index) => ({ id, vector: JSON.stringify(vector), index }));
    await client.query(
      `insert into agent_diary (id, org_id, agent_id, kind, content, content_hash, source, metadata, observed_at,
         source_turn_ids, live, retrieval_count, search, search_length, embedding, embedding_model, created_at, updated_at)
       select id, $2, $3, 'diary_long', 'chunk ' || index, id::text, 'import', '{}', now(), '[]', true, 0,
         to_tsvector('english', 'chunk ' || index), 2, vector::vector, $4, now(), now()
       from jsonb_to_recordset($1::jsonb) as given(id uuid, vector text, index int)`,
      [JSON.stringify(values), rows[0]!.id, agentId, MODEL],
    );
  }
  await client.query('analyze agent_diary');
}

/** Every query, first as the bare statement of the vector arm, then of the service; both by as many clients. */
async function measured(service: ServiceProcess, connections: readonly pg.Client[], crowd: Crowd): Promise<Row> {
  const bare: number[] = [];
  const times: number[] = [];
  let right = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await byClients(connections, crowd.queries, async (client, { vector, agentId }) => {
      const { ms } = await timed(() => client.query(BARE, [agentId, JSON.stringify(vector), MODEL]));
      if (round > 0) bare.push(ms);
    });
    await byClients(connections, crowd.queries, async (_client, { text, vector, agentId }) => {
      const path = `/agents/${agentId}/diary?limit=10&q=${text}`;
      const { ms, value } = await timed(() => service.get<{ items: { id: string }[] }>(path));
      if (round === 0)
        right += value.items.filter(({ id }) => nearest(crowd.memories.get(agentId)!, vector).has(id)).length;
      else times.push(ms);
    });
  }
  const [[bareP50], [p50, p95]] = [quantiles(bare, 0.5), quantiles(times, 0.5, 0.95)];
  return [(right / (10 * crowd.queries.length)).toFixed(2), bareP50!, p50!, p95!, (p50! / bareP50!).toFixed(2)];
}

const BARE = `select id, embedding <=> $2::vector as distance from agent_diary
  where org_id = (select id from organizations) and agent_id = $1 and embedding_model = $3 order by distance, id limit 10`;

/** As many at a time as there are clients, each asking one after another. */
async function byClients<Client, Item>(
  clients: readonly Client[],
  items: readonly Item[],
  ask: (client: Client, item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    clients.map(async (client) => {
      for (const item of queue) await ask(client, item);
    }),
  );
}

/** The ten of brute force; all vectors have length 1. */
function nearest(memories: readonly Memory[], query: readonly number[]): Set<string> {
  const near = memories.map(({ id, vector }) => ({
    id,
    product: vector.reduce((sum, x, at) => sum + x * query[at]!, 0),
  }));
  near.sort((a, b) => b.product - a.product);
  return new Set(near.slice(0, 10).map(({ id }) => id));
}

function unit(component: (index: number) => number): number[] {
  const vector = Array.from({ length: DIMENSIONS }, (_, index) => component(index));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Box and Muller 1958. */
function gaussian(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}
