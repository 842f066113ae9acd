import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { ServiceProcess } from '../test/support/service-process.js';
import { type Bench, printTable, quantiles, type Row, timed } from './bench.js';

const FILE = new URL('../../shared/data/locomo/locomo-dev5.json', import.meta.url);

interface Sample {
  conversation: Record<string, { dia_id: string; speaker: string; text: string; blip_caption?: string }[]>;
  qa: { question: string; evidence?: string[] }[];
}

/** `evidence` holds the ids of the memories that answer it. */
type Question = { path: string; text: string; evidence: string[] };

/** What share of the evidence of LoCoMo's questions the search finds, one agent a conversation, and how long it takes. */
export async function retrieval(bench: Bench): Promise<void> {
  if (!existsSync(FILE)) return console.log('skipped: ../shared/data/locomo is absent');
  const samples = JSON.parse(readFileSync(FILE, 'utf8')) as Sample[];
  const { service } = await bench.start();
  const rows: Row[] = [['memories', 'recall@10', 'p50 ms', 'p95 ms', 'recall@100', 'p50 ms', 'p95 ms']];
  for (const kept of [true, false]) {
    const questions = (await Promise.all(samples.map((sample) => write(service, sample, kept)))).flat();
    if (kept) console.log(`${questions.length} questions on ${samples.length} conversations`);
    const first = await ask(service, questions, 10);
    rows.push([kept ? 'with conversation_id' : 'without', ...first, ...(await ask(service, questions, 100))]);
  }
  printTable(rows);
}

/** Writes what was said for a new agent, in that order, one memory a turn; answers with the questions that have evidence. */
async function write(service: ServiceProcess, { conversation, qa }: Sample, kept: boolean): Promise<Question[]> {
  const agent = `/agents/locomo-${randomUUID()}`;
  await service.post(`${agent}/plan-context`, { turn_id: randomUUID(), role: 'locomo', task_description: '' });
  const ids = new Map<string, string>();
  const sessions = Object.keys(conversation).filter((key) => /^session_\d+$/.test(key));
  for (const session of sessions.sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)))) {
    for (const { dia_id: turnId, speaker, text, blip_caption: caption } of conversation[session]!) {
      const content = `${speaker}: ${text}${caption ? ` [image: ${caption}]` : ''}`;
      const memory = { kind: 'diary_long', content, conversation_id: kept ? session : null };
      const { status, body } = await service.post<{ id?: string }>(`${agent}/diary`, memory);
      if (status > 202) throw new Error(`POST ${agent}/diary: ${status} ${JSON.stringify(body)}`);
      // What the screening holds back stays evidence, so that it counts as not found.
      ids.set(turnId, body.id ?? 'held back');
    }
  }
  return qa.flatMap(({ question, evidence = [] }) => {
    const named = evidence.flatMap((entry) => entry.match(/D\d+:\d+/g) ?? []);
    const known = new Set(named.flatMap((id) => ids.get(id.replace(/:0+(?=\d)/, ':')) ?? []));
    return known.size > 0 ? [{ path: `${agent}/diary`, text: question, evidence: [...known] }] : [];
  });
}

/** Mean recall over the questions, then p50 and p95 of the answer, one question after another. */
async function ask(service: ServiceProcess, questions: readonly Question[], limit: number): Promise<Row> {
  let recall = 0;
  const times: number[] = [];
  for (const { path, text, evidence } of questions) {
    const query = `${path}?limit=${limit}&q=${encodeURIComponent(text)}`;
    const { ms, value } = await timed(() => service.get<{ items: { id: string }[] }>(query));
    times.push(ms);
    const found = new Set(value.items.map(({ id }) => id));
    recall += evidence.filter((id) => found.has(id)).length / evidence.length / questions.length;
  }
  return [`${(100 * recall).toFixed(1)} %`, ...quantiles(times, 0.5, 0.95)];
}
