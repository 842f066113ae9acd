import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentMemoryView } from '../src/views/agent-memory/agent-memory.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { aPlanRequest, callTool, register, remember } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aTurn } from './support/turns.js';

let test: TestApp;
let model: ScriptedModel;
let count = 0;

beforeAll(async () => {
  model = await ScriptedModel.start();
  test = await startApp({ model });
});

afterAll(async () => {
  await test.close();
  await model.close();
});

async function newAgent(): Promise<{ handle: string; id: string }> {
  const handle = `agent-${(count += 1)}`;
  return { handle, id: await register(test.http, handle) };
}

async function viewOf(agent: string, query = ''): Promise<AgentMemoryView> {
  const { body } = await test.http.get(`/agents/${agent}/memory${query}`).expect(200);
  return body as AgentMemoryView;
}

async function pastTurn(agent: string, changes: Record<string, unknown> = {}): Promise<void> {
  await test.http
    .post('/turns/batch')
    .send({ turns: [aTurn({ agent, ...changes })], reflect: false })
    .expect(200);
}

describe('the memory of an agent', () => {
  it('that has learned nothing is empty, section by section', async () => {
    const { handle, id } = await newAgent();
    expect(await viewOf(handle)).toEqual({
      agent_id: id,
      handle,
      role: 'support',
      personal_memories: { long: [], short: [] },
      episodes: [],
      counterparty_profiles: [],
      synthesized_skills: [],
      totals: { long: 0, short: 0, episodes: 0, counterparty_profiles: 0, synthesized_skills: 0 },
      degraded: [],
    });
  });

  it('has exactly the fields of the contract', async () => {
    const { handle, id } = await newAgent();
    await remember(test.http, handle, 'Alice likes tea.', { conversation_id: 'C1' });
    const note = { content: 'Bob is away.', ttl_days: 3, note: 'He said so.' };
    const { data } = await callTool(test.http, handle, 'reflect_and_persist', note);
    model.reply('memory_filter', '[1, 2]');
    const request = aPlanRequest({ task_description: 'Ask Alice and Bob' });
    await test.http.post(`/agents/${handle}/plan-context`).send(request).expect(200);
    model.reply('persist_decider', '{"kind": "LONG", "content": "Carol likes cake."}');
    model.reply('counterparty_profiler', '{"traits": [{"key": "likes", "values": ["cake"]}]}');
    const turn = aTurn({ agent: handle, conversation_id: 'C2', review_outcome: 'failed', task_id: 'T1' });
    await test.http.post('/turns').send(turn).expect(202);
    await test.reflected(turn.turn_id);

    const view = await viewOf(id);
    expect(view).toEqual(await viewOf(handle));
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const memory = { expired: false, superseded_by: null, embedded: true, created_at: at };
    expect(view).toEqual({
      agent_id: id,
      handle,
      role: 'support',
      personal_memories: {
        long: [
          {
            ...memory,
            id: expect.any(String),
            kind: 'diary_long',
            content: 'Carol likes cake.',
            metadata: { review_outcome: 'failed' },
            source: 'persist_decider',
            turn_id: turn.turn_id,
            conversation_id: 'C2',
            ttl_until: null,
            retrieval_count: 0,
            last_retrieved_at: null,
          },
          {
            ...memory,
            id: expect.any(String),
            kind: 'diary_long',
            content: 'Alice likes tea.',
            metadata: {},
            source: 'operator',
            turn_id: null,
            conversation_id: 'C1',
            ttl_until: null,
            retrieval_count: 1,
            last_retrieved_at: at,
          },
        ],
        short: [
          {
            ...memory,
            id: data!.id,
            kind: 'diary_short',
            content: 'Bob is away.',
            metadata: { note: 'He said so.' },
            source: 'reflect_and_persist',
            turn_id: expect.any(String),
            conversation_id: null,
            ttl_until: data!.ttl_until,
            retrieval_count: 1,
            last_retrieved_at: at,
          },
        ],
      },
      episodes: [
        {
          id: expect.any(String),
          kind: 'raw',
          count: 1,
          task_id: 'T1',
          turn_id: turn.turn_id,
          task_summary: 'Where is my order? By the way, I prefer short answers.',
          plan_summary: '1. look up the order\n2. answer',
          tool_sequence: ['get_order', 'send_message'],
          skills_used: [],
          review_outcome: 'failed',
          started_at: '2026-11-02T09:00:00.000Z',
          ended_at: '2026-11-02T09:01:00.000Z',
          duration_ms: 60_000,
        },
      ],
      counterparty_profiles: [
        {
          id: expect.any(String),
          subject_label: 'Alice',
          subject_handle: null,
          subject_external_id: 'U42',
          subject_platform: 'slack',
          subject_name: 'Alice',
          traits: { likes: [{ value: 'cake', count: 1, last_seen_at: '2026-11-02T09:01:00.000Z' }] },
          interaction_count: 1,
          first_seen_at: '2026-11-02T09:01:00.000Z',
          last_updated_at: at,
          last_corroborated_at: '2026-11-02T09:01:00.000Z',
        },
      ],
      synthesized_skills: [],
      totals: { long: 2, short: 1, episodes: 1, counterparty_profiles: 1, synthesized_skills: 0 },
      degraded: [],
    });
  });

  it('is cut at the limit a section, newest first; the totals are not', async () => {
    const { handle } = await newAgent();
    for (let index = 0; index < 4; index++) {
      await remember(test.http, handle, `Lasting ${index}.`);
      await remember(test.http, handle, `Passing ${index}.`, { kind: 'diary_short' });
      const time = `2026-11-0${4 - index}T09:00:00Z`;
      await pastTurn(handle, { started_at: time, ended_at: time });
    }
    const view = await viewOf(handle, '?limit=2');
    const contents = (memories: { content: string }[]): string[] => memories.map(({ content }) => content);
    expect(contents(view.personal_memories.long)).toEqual(['Lasting 3.', 'Lasting 2.']);
    expect(contents(view.personal_memories.short)).toEqual(['Passing 3.', 'Passing 2.']);
    expect(view.episodes.map(({ started_at }) => started_at.slice(0, 10))).toEqual(['2026-11-04', '2026-11-03']);
    expect(view.totals).toMatchObject({ long: 4, short: 4, episodes: 4 });
  });

  it('flags what has expired, does not count it, and shows it until the sweep a week later', async () => {
    const { handle } = await newAgent();
    const until = new Date(Date.now() + 100).toISOString();
    const entry = await remember(test.http, handle, 'The freeze is on.', { kind: 'diary_short', ttl_until: until });
    await new Promise((resolve) => setTimeout(resolve, 110));
    const expired = { ...entry, expired: true };
    expect(await viewOf(handle)).toMatchObject({ personal_memories: { short: [expired] }, totals: { short: 0 } });
    const live = await remember(test.http, handle, 'The freeze is on.', { kind: 'diary_short' });
    expect(await viewOf(handle)).toMatchObject({ personal_memories: { short: [live, expired] }, totals: { short: 1 } });

    const sweepAt = async (age: string): Promise<AgentMemoryView> => {
      await test.database.query(`update agent_diary set ttl_until = now() - $2::interval where id = $1`, [
        entry.id,
        age,
      ]);
      await test.http.post('/jobs/sweep').expect(202);
      for (let total = 1; total > 0;) {
        ({ total } = (await test.http.get('/jobs?task=sweep').expect(200)).body as { total: number });
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return viewOf(handle);
    };
    expect((await sweepAt('6 days 23 hours')).personal_memories.short).toHaveLength(2);
    expect((await sweepAt('7 days 1 hour')).personal_memories.short).toEqual([live]);
  });

  it('leaves out what was superseded, also once that has expired', async () => {
    const { handle } = await newAgent();
    const ttl_until = new Date(Date.now() + 1_500).toISOString();
    const older = await remember(test.http, handle, 'Bob is away.', { kind: 'diary_short', ttl_until });
    model.reply('persist_decider', '{"kind": "LONG", "content": "Bob is back.", "supersedes": [1]}');
    const now = new Date().toISOString();
    const turn = aTurn({ agent: handle, started_at: now, ended_at: now });
    await test.http.post('/turns').send(turn).expect(202);
    await test.reflected(turn.turn_id);
    for (let look = 0; look < 2; look++) {
      const { personal_memories, totals } = await viewOf(handle);
      expect(personal_memories).toMatchObject({ long: [{ content: 'Bob is back.' }], short: [] });
      expect(totals).toMatchObject({ long: 1, short: 0 });
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(older.ttl_until!) - Date.now() + 5)));
    }
  });

  it('names a section that fails, and shows the others', async () => {
    const { handle } = await newAgent();
    await remember(test.http, handle, 'Alice likes tea.');
    await pastTurn(handle);
    const without = async (table: string): Promise<AgentMemoryView> => {
      await test.database.query(`alter table ${table} rename to ${table}_away`);
      try {
        return await viewOf(handle);
      } finally {
        await test.database.query(`alter table ${table}_away rename to ${table}`);
      }
    };
    expect(await without('episodes')).toMatchObject({
      personal_memories: { long: [{ content: 'Alice likes tea.' }] },
      episodes: [],
      totals: { long: 1, episodes: 0 },
      degraded: ['episodes'],
    });
    expect(await without('counterparty_profiles')).toMatchObject({
      counterparty_profiles: [],
      totals: { long: 1, counterparty_profiles: 0 },
      degraded: ['counterparty_profiles'],
    });
    expect(await without('agent_diary')).toMatchObject({
      personal_memories: { long: [], short: [] },
      episodes: [{ review_outcome: 'done' }],
      totals: { long: 0, episodes: 1 },
      degraded: ['personal_memories'],
    });
  });

  it('is the agent’s own', async () => {
    const [one, two] = [await newAgent(), await newAgent()];
    await remember(test.http, one.handle, 'Alice likes tea.');
    await pastTurn(one.handle);
    expect((await viewOf(two.handle)).totals).toMatchObject({ long: 0, episodes: 0 });
  });

  it.each(['nobody', randomUUID()])('of %s is 404', async (agent) => {
    expectProblem(await test.http.get(`/agents/${agent}/memory`), 404, 'agent.not_found');
  });

  it.each(['limit=0', 'limit=-1', 'limit=201', 'limit=1e9', 'limit=x', 'limit=1.5', 'offset=1'])(
    'with ?%s is 422',
    async (query) => {
      const { handle } = await newAgent();
      const answer = await test.http.get(`/agents/${handle}/memory?${query}`);
      expectProblem(answer, 422, 'request.invalid');
    },
  );
});
