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

const LIMITS = [10, 20, 100];
/** What the ranking weighs was picked on the first of the conversations; the others tell what it is worth elsewhere. */
const TUNED_ON = 3;

/** What share of the evidence of LoCoMo's questions the search finds, one agent a conversation, and how long it takes. */
export async function retrieval(bench: Bench): Promise<void> {
  if (!existsSync(FILE)) return console.log('skipped: ../shared/data/locomo is absent');
  const samples = JSON.parse(readFileSync(FILE, 'utf8')) as Sample[];
  const { service } = await bench.start();
  const rows: Row[] = [['memories', ...LIMITS.map((limit) => `recall@${limit}`), 'p50 ms', 'p95 ms']];
  for (const kept of [true, false]) {
    const questions: Question[][] = [];
    for (const sample of samples) questions.push(await write(service, sample, kept));
    const written = kept ? 'with conversation_id' : 'without';
    rows.push([`${written}, tuned on`, ...(await ask(service, questions.slice(0, TUNED_ON).flat()))]);
    rows.push([`${written}, others`, ...(await ask(service, questions.slice(TUNED_ON).flat()))]);
    rows.push([`${written}, all`, ...(await ask(service, questions.flat()))]);
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

/** Mean recall over the questions at each limit, then p50 and p95 of the longest answer, one question after another. */
async function ask(service: ServiceProcess, questions: readonly Question[]): Promise<Row> {
  const recall = LIMITS.map(() => 0);
  const times: number[] = [];
  for (const { path, text, evidence } of questions) {
    const query = `${path}?limit=${Math.max(...LIMITS)}&q=${encodeURIComponent(text)}`;
    const { ms, value } = await timed(() => service.get<{ items: { id: string }[] }>(query));
    times.push(ms);
    LIMITS.forEach((limit, index) => {
      const found = new Set(value.items.slice(0, limit).map(({ id }) => id));
      recall[index]! += evidence.filter((id) => found.has(id)).length / evidence.length / questions.length;
    });
  }
  return [...recall.map((share) => `${(100 * share).toFixed(1)} %`), ...quantiles(times, 0.5, 0.95)];
}
