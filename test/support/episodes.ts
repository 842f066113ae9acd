import { randomUUID } from 'node:crypto';
import type TestAgent from 'supertest/lib/agent.js';
import type { EpisodeView } from '../../src/memories/episodes/episode.view.js';
import type { TestApp } from './app.js';
import { eventsOf, eventually } from './requests.js';
import { aMessage, aTurn, type TurnBody } from './turns.js';

export interface PastTurn {
  daysAgo: number;
  body?: string;
  tools?: string[];
  outcome?: 'done' | 'failed' | 'self_iterate';
}

/** A turn that ended some days ago and took a minute; `changes` overrides fields. */
export function aPastTurn(
  agent: string,
  { daysAgo, body = 'Refund the zebra order', tools = ['get_order', 'refund'], outcome = 'done' }: PastTurn,
  changes: Record<string, unknown> = {},
): TurnBody {
  const end = Date.now() - daysAgo * 86_400_000;
  return aTurn({
    agent,
    turn_id: randomUUID(),
    tool_sequence: tools,
    review_outcome: outcome,
    started_at: new Date(end - 60_000).toISOString(),
    ended_at: new Date(end).toISOString(),
    interactions: [aMessage({ body })],
    ...changes,
  });
}

/** Stores turns without reflections on them. */
export async function backfill(http: TestAgent, turns: readonly TurnBody[]): Promise<void> {
  for (let at = 0; at < turns.length; at += 500) {
    const { body } = await http
      .post('/turns/batch')
      .send({ turns: turns.slice(at, at + 500), reflect: false })
      .expect(200);
    const refused = (body as { items: { status: string }[] }).items.filter(({ status }) => status !== 'accepted');
    if (refused.length > 0) throw new Error(JSON.stringify(refused[0]));
  }
}

/** All episodes of an agent, newest first. */
export async function episodesOf(http: TestAgent, agent: string, filter = ''): Promise<EpisodeView[]> {
  const items: EpisodeView[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { body: unknown } = await http
      .get(`/agents/${encodeURIComponent(agent)}/episodes?limit=200${filter}${cursor && `&cursor=${cursor}`}`)
      .expect(200);
    const body = page.body as { items: EpisodeView[]; next_cursor: string | null };
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  return items;
}

export interface Inventory {
  raw: EpisodeView[];
  compacted: EpisodeView[];
  /** Turns that the rows stand for, each once: what is raw and no exemplar, and what the compacted rows count. */
  turns: number;
}

export async function inventoryOf(http: TestAgent, agent: string): Promise<Inventory> {
  const all = await episodesOf(http, agent);
  const raw = all.filter(({ kind }) => kind === 'raw');
  const compacted = all.filter(({ kind }) => kind === 'compacted');
  const exemplars = new Set(compacted.flatMap((row) => row.exemplar_turn_ids!));
  const counted = compacted.reduce((sum, { count }) => sum + count, 0);
  return { raw, compacted, turns: counted + raw.filter(({ turn_id: id }) => !exemplars.has(id!)).length };
}

export type Completed = ReturnType<typeof eventsOf<'compaction.completed'>>[number]['payload'];

/** Runs passes of agents and waits for their ends. */
export class Passes {
  private readonly ends;

  constructor(private readonly test: TestApp) {
    this.ends = eventsOf(test, 'compaction.completed');
  }

  /** What the passes of an agent have ended with so far. */
  of(agent: string): Completed[] {
    return this.ends.map(({ payload }) => payload).filter(({ agent_handle: handle }) => handle === agent);
  }

  /** As an operator does; answers with how the pass ended. */
  async run(agent: string): Promise<Completed> {
    const before = this.of(agent).length;
    await this.test.http.post('/jobs/compact-episodes').send({ agent }).expect(202);
    return this.next(agent, before);
  }

  /** The first end after `before` of them. */
  async next(agent: string, before = 0): Promise<Completed> {
    const ends = await eventually(
      () => this.of(agent),
      (seen) => seen.length > before,
    );
    return ends[before]!;
  }
}
