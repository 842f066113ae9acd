import type { ApiClient } from './api-client.js';
import { wrapped } from './demo-columns.js';
import { oneLine } from './local-model-language.js';

interface Memory {
  kind: 'diary_long' | 'diary_short';
  content: string;
  source: string;
  ttl_until: string | null;
  expired: boolean;
}

interface AgentMemory {
  handle: string;
  role: string;
  personal_memories: { long: Memory[]; short: Memory[] };
  counterparty_profiles: {
    subject_label: string;
    interaction_count: number;
    traits: Record<string, { value: string }[]>;
  }[];
  synthesized_skills: { name: string; description: string; version: number }[];
  totals: Record<'long' | 'short' | 'episodes' | 'counterparty_profiles' | 'synthesized_skills', number>;
}

interface Listed<Item> {
  items: Item[];
}

export interface Reflection {
  status: string;
  reason: string | null;
  workers: { worker: string; part: string; status: string; reason: string | null; error: string | null }[];
}

/** The newest lesson of an agent as one line, `null` while there is none or nobody knows the agent yet. */
export async function latestLesson(api: ApiClient, agent: string): Promise<string | null> {
  const { status, body } = await api.request<AgentMemory>('GET', `/agents/${agent}/memory?limit=1`);
  if (status !== 200) return null;
  const memory = body.personal_memories.long[0] ?? body.personal_memories.short[0];
  return memory ? `${agent}, ${tierOf(memory)}: ${oneLine(memory.content, 140)}` : null;
}

/** What one agent has learned so far, read from the API. */
export async function learnedBy(api: ApiClient, agent: string, width: number): Promise<string> {
  const memory = await api.call<AgentMemory>('GET', `/agents/${agent}/memory?limit=50`);
  const docs = await api.request<Listed<{ content: string; target_hint: string | null; rationale: string | null }>>(
    'GET',
    `/agents/${agent}/doc-recommendations`,
  );
  const { long, short } = memory.personal_memories;
  const lines = [
    `${memory.handle} (${memory.role}): ${memory.totals.episodes} episodes`,
    ...[...long].reverse().map((entry) => `  - LONG  ${entry.content}`),
    ...[...short].reverse().map((entry) => `  - SHORT ${entry.content} [${lifeOf(entry)}]`),
    ...(docs.status === 200 ? docs.body.items : []).map(
      ({ content, target_hint: target }) => `  - DOC   ${content}${target ? ` → ${target}` : ''}`,
    ),
    ...memory.synthesized_skills.map(
      ({ name, version, description }) => `  - SKILL ${name} v${version}: ${oneLine(description, 160)}`,
    ),
    ...peopleOf(memory),
  ];
  return lines.flatMap((line) => wrapped(line, width)).join('\n');
}

/** What screening held back from the memories; empty where nothing was, or where the caller may not see it. */
export async function quarantined(api: ApiClient): Promise<string[]> {
  const { status, body } = await api.request<Listed<{ kind: string; agent: string; reason: string; content: string }>>(
    'GET',
    '/quarantine',
  );
  if (status !== 200) return [];
  return body.items.map(({ kind, agent, reason, content }) => `${agent}, ${kind}, ${reason}: ${oneLine(content, 160)}`);
}

/** How the reflections ended: one line a worker and one for the turns that a gate kept out. */
export function endings(reflections: readonly Reflection[]): string[] {
  const perWorker = new Map<string, Map<string, number>>();
  const count = (worker: string, end: string): void => {
    const ends = perWorker.get(worker) ?? new Map<string, number>();
    ends.set(end, (ends.get(end) ?? 0) + 1);
    perWorker.set(worker, ends);
  };
  for (const { status, reason, workers } of reflections) {
    if (status !== 'done') count('(whole turn)', withReason(status, reason));
    for (const run of workers) count(run.worker, withReason(run.status, run.reason ?? run.error));
  }
  const width = Math.max(0, ...[...perWorker.keys()].map((worker) => worker.length));
  return [...perWorker].map(([worker, ends]) => {
    const parts = [...ends].sort(([a], [b]) => a.localeCompare(b)).map(([end, times]) => `${times} ${end}`);
    return `${worker.padEnd(width)}  ${parts.join(', ')}`;
  });
}

function withReason(status: string, reason: string | null): string {
  return reason ? `${status} (${oneLine(reason, 60)})` : status;
}

function peopleOf(memory: AgentMemory): string[] {
  const known = memory.counterparty_profiles.map(({ subject_label: label, traits }) => {
    const keys = Object.keys(traits).length;
    return keys > 0 ? `${label} (${keys} ${keys === 1 ? 'trait' : 'traits'})` : label;
  });
  return known.length > 0 ? [`  - KNOWS ${known.join(', ')}`] : [];
}

function tierOf(memory: Memory): string {
  return memory.kind === 'diary_long' ? 'LONG' : `SHORT until ${memory.ttl_until?.slice(0, 10)}`;
}

function lifeOf({ ttl_until: until, expired }: Memory): string {
  return `${expired ? 'expired' : 'until'} ${until?.slice(0, 10) ?? '?'}`;
}
