import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import type { EpisodeView } from '../src/memories/episodes/episode.view.js';
import type { BatchItem } from '../src/processes/intake/turns.controller.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { eventsOf, eventually, memoriesOf } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage, aTurn, type TurnBody } from './support/turns.js';

interface Receipt {
  turn_id: string;
  episode_id: string;
  status: string;
}

let test: TestApp;
let model: ScriptedModel;
let count = 0;

beforeAll(async () => {
  model = await ScriptedModel.start();
  test = await startApp({ model, config: { learning: { counterparty: { enabled: false } } } });
});

/** Every reflection ends before the next test, so that a test sees its own model calls alone. */
afterEach(async () => {
  const jobs = async (): Promise<{ total: number }> =>
    (await test.http.get('/jobs').expect(200)).body as { total: number };
  await eventually(jobs, ({ total }) => total === 0);
  model.reset();
});

afterAll(async () => {
  await test.close();
  await model.close();
});

const newHandle = (): string => `agent-${(count += 1)}`;
const post = (turn: unknown): Promise<Response> => test.http.post('/turns').send(turn as object);
const accept = async (turn: TurnBody, status = 202): Promise<Receipt> => {
  const answer = await post(turn);
  expect({ status: answer.status, body: answer.body as unknown }).toMatchObject({ status });
  return answer.body as Receipt;
};
const episodesOf = async (agent: string, query = ''): Promise<EpisodeView[]> => {
  const { body } = await test.http.get(`/agents/${agent}/episodes${query}`).expect(200);
  return (body as { items: EpisodeView[] }).items;
};
const batch = async (turns: unknown[], more: object = {}): Promise<BatchItem[]> => {
  const { body } = await test.http
    .post('/turns/batch')
    .send({ turns, ...more })
    .expect(200);
  return (body as { items: BatchItem[] }).items;
};

describe('a finished turn', () => {
  it('is an episode once it is answered with 202', async () => {
    const turn = aTurn({
      agent: newHandle(),
      task_id: 'order-7',
      skills_used: ['find-order'],
      started_at: '2026-11-02T10:00:00+01:00',
      ended_at: '2026-11-02T10:01:30.500+01:00',
    });
    const receipt = await accept(turn);
    expect(receipt).toEqual({ turn_id: turn.turn_id, episode_id: expect.any(String), status: 'accepted' });
    const episode = {
      id: receipt.episode_id,
      kind: 'raw',
      count: 1,
      task_id: 'order-7',
      turn_id: turn.turn_id,
      task_summary: 'Where is my order? By the way, I prefer short answers.',
      plan_summary: '1. look up the order\n2. answer',
      tool_sequence: ['get_order', 'send_message'],
      skills_used: ['find-order'],
      review_outcome: 'done',
      started_at: '2026-11-02T09:00:00.000Z',
      ended_at: '2026-11-02T09:01:30.500Z',
      duration_ms: 90_500,
    };
    expect(await episodesOf(turn.agent)).toEqual([episode]);
    const one = await test.http.get(`/agents/${turn.agent}/episodes/${receipt.episode_id}`).expect(200);
    expect(one.body).toEqual(episode);
    expectProblem(await test.http.get(`/agents/${turn.agent}/episodes/${randomUUID()}`), 404, 'episode.not_found');
  });

  it('is answered as it was posted, with its reflection', async () => {
    const turn = aTurn({ agent: newHandle() });
    const { episode_id } = await accept(turn);
    const answer = await test.reflected(turn.turn_id);
    expect(answer).toEqual({
      turn_id: turn.turn_id,
      agent: turn.agent,
      agent_id: expect.any(String),
      role: 'support',
      episode_id,
      received_at: expect.stringMatching(/Z$/),
      task_id: null,
      conversation_id: null,
      trigger_event_ids: [],
      task_description: 'Answer the message',
      plan: { decision: 'plan', summary: '1. look up the order\n2. answer' },
      tool_sequence: ['get_order', 'send_message'],
      plan_tool_sequence: [],
      skills_used: [],
      review_outcome: 'done',
      failure_reason: null,
      iterations: 1,
      started_at: '2026-11-02T09:00:00.000Z',
      ended_at: '2026-11-02T09:01:00.000Z',
      interactions: [{ ...aMessage(), handle: null, requires_recon: false }],
      reflection: {
        status: 'done',
        reason: null,
        workers: expect.arrayContaining([
          { worker: 'persist_decider', part: '', status: 'noop', reason: null, attempts: 1, error: null },
        ]),
      },
    });
    expectProblem(await test.http.get(`/turns/${randomUUID()}`), 404, 'turn.not_found');
    expectProblem(await test.http.get('/turns/x'), 404, 'route.not_found');
  });

  it('takes null for what is optional, and a turn_id in capitals for the same turn', async () => {
    const minimal = aTurn({ agent: newHandle() });
    for (const field of ['task_id', 'conversation_id', 'trigger_event_ids', 'plan_tool_sequence', 'skills_used']) {
      minimal[field] = null;
    }
    minimal.plan = { decision: 'direct', summary: null };
    minimal.interactions = [
      { platform: null, external_id: null, handle: null, display_name: null, body: null, channel_kind: null },
    ];
    const first = await accept({ ...minimal, failure_reason: null, iterations: null });
    const { interactions: _, ...bare } = minimal;
    const again = { ...bare, turn_id: minimal.turn_id.toUpperCase(), interactions: [{}] };
    expect(await accept(again, 200)).toEqual({ ...first, status: 'duplicate' });
  });

  it('registers an unknown agent with its role, and leaves that of a known one', async () => {
    const agent = newHandle();
    await accept(aTurn({ agent, role: 'first' }));
    await accept(aTurn({ agent, role: 'second' }));
    const { body } = await test.http.get('/agents?role=first').expect(200);
    expect(body).toMatchObject({
      total: 1,
      items: [{ handle: agent, role: 'first', unit: null, active: true, last_turn_at: '2026-11-02T09:01:00.000Z' }],
    });
    const { id } = (body as { items: { id: string }[] }).items[0]!;
    expect(await accept(aTurn({ agent: id }))).toMatchObject({ status: 'accepted' });
    expect(await episodesOf(agent)).toHaveLength(3);
  });

  it('tells what it has done by events', async () => {
    const [written, completed] = [eventsOf(test, 'episode.written'), eventsOf(test, 'turn.completed')];
    const turn = aTurn({ agent: newHandle() });
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await test.http.post('/turns').set('traceparent', `00-${trace}-b7ad6b7169203331-01`).send(turn).expect(202);
    const about = {
      turn_id: turn.turn_id,
      agent_handle: turn.agent,
      role: 'support',
      trace_id: trace,
      span_id: 'b7ad6b7169203331',
    };
    expect(written).toMatchObject([
      { ...about, payload: { review_outcome: 'done', duration_ms: 60_000, tool_count: 2 } },
    ]);
    expect(completed).toMatchObject([
      {
        ...about,
        payload: {
          task_id: null,
          duration_ms: 60_000,
          task_summary: 'Where is my order? By the way, I prefer short answers.',
          plan_decision: 'plan',
          tool_sequence: ['get_order', 'send_message'],
          review_outcome: 'done',
          iterations: 1,
        },
      },
    ]);
    await accept(turn, 200);
    expect([written, completed].map((events) => events.length)).toEqual([1, 1]);
  });

  it('with text of every kind comes back byte for byte', async () => {
    const text = ' 👨‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 cafe\u0301 \t"\\u0041" 中文 می‌خواهم\n';
    const turn = aTurn({ agent: newHandle(), interactions: [aMessage({ body: text })], tool_sequence: [text] });
    const { episode_id } = await accept(turn);
    expect(await episodesOf(turn.agent)).toMatchObject([{ id: episode_id, task_summary: text, tool_sequence: [text] }]);
    const { body } = await test.http.get(`/turns/${turn.turn_id}`).expect(200);
    expect((body as { interactions: { body: string }[] }).interactions[0]!.body).toBe(text);
  });

  it('with NUL and half characters is stored cleaned, and its reflection ends', async () => {
    const turn = aTurn({ agent: newHandle(), task_description: 'x\u0000y', conversation_id: 'c\u0000' });
    turn.interactions = [aMessage({ body: 'a\u0000b\ud83d', external_id: 'U\u0000', display_name: '\udc00' })];
    turn.tool_sequence = ['t\u0000'];
    await accept(turn);
    expect((await test.reflected(turn.turn_id)).reflection.status).toBe('done');
    expect(await episodesOf(turn.agent)).toMatchObject([
      { task_summary: 'a\ufffdb\ufffd', tool_sequence: ['t\ufffd'] },
    ]);
    expect(await accept(turn, 200)).toMatchObject({ status: 'duplicate' });
  });

  it.each([
    [{ turn_id: 'x' }, 'turn_id'],
    [{ turn_id: null }, 'turn_id'],
    [{ agent: '' }, 'agent'],
    [{ agent: 'a\nb' }, 'agent'],
    [{ agent: 'a'.repeat(129) }, 'agent'],
    [{ role: '' }, 'role'],
    [{ task_description: null }, 'task_description'],
    [{ plan: null }, 'plan'],
    [{ plan: { decision: 'maybe' } }, 'plan.decision'],
    [{ plan: { decision: 'plan', summery: '' } }, 'plan.summery'],
    [{ tool_sequence: null }, 'tool_sequence'],
    [{ tool_sequence: 'get_order' }, 'tool_sequence'],
    [{ tool_sequence: [1] }, 'tool_sequence'],
    [{ review_outcome: 'aborted' }, 'review_outcome'],
    [{ failure_reason: 'bored' }, 'failure_reason'],
    [{ iterations: 1.5 }, 'iterations'],
    [{ started_at: '2026-11-02' }, 'started_at'],
    [{ started_at: '2026-11-02T09:00:00' }, 'started_at'],
    [{ started_at: '1999-12-31T23:59:59Z' }, 'started_at'],
    [{ started_at: '2999-01-01T00:00:00Z', ended_at: '2999-01-01T00:00:00Z' }, 'started_at'],
    [{ ended_at: '2026-11-02T08:59:59Z' }, 'ended_at'],
    [{ ended_at: '2999-01-01T00:00:00Z' }, 'ended_at'],
    [{ interactions: [[{}]] }, 'interactions'],
    [{ interactions: [null] }, 'interactions'],
    [{ interactions: [{ channel_kind: 'fax' }] }, 'interactions.0.channel_kind'],
    [{ interactions: [{ sent_at: 'now' }] }, 'interactions.0.sent_at'],
    [{ interactions: [{ bodi: '' }] }, 'interactions.0.bodi'],
    [{ outcome: 'done' }, 'outcome'],
  ])('is refused with %j', async (changes, path) => {
    const turn = aTurn({ agent: newHandle(), ...changes });
    const problem = expectProblem(await post(turn), 422, 'request.invalid');
    expect(problem.errors!.map((error) => error.path)).toContain(path);
  });
});

describe('a turn of people with long names', () => {
  it('is stored, as long as the names are within their limits', async () => {
    const names = Array.from({ length: 500 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)));
    const long = names.join('');
    const interactions = [aMessage({ external_id: long, handle: 'h', display_name: [...long].reverse().join('') })];
    const turns = [aTurn({ agent: newHandle() }), aTurn({ agent: newHandle(), interactions })];
    expect((await test.http.post('/turns/batch').send({ turns }).expect(200)).body).toMatchObject({
      items: [{ status: 'accepted' }, { status: 'accepted' }],
    });
  });
});

describe('the trace of a turn', () => {
  it('is that of its plan context where the turn is posted without one', async () => {
    const completed = eventsOf(test, 'turn.completed');
    const turn = aTurn({ agent: newHandle() });
    await test.http
      .post(`/agents/${turn.agent}/plan-context`)
      .set('traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')
      .send({ turn_id: turn.turn_id, role: 'support', task_description: 'x' })
      .expect(200);
    await accept(turn);
    expect(completed).toMatchObject([
      { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7', turn_id: turn.turn_id },
    ]);
  });
});

describe('a turn that comes again', () => {
  it('is one episode and one reflection, with the same ids', async () => {
    model.reply('persist_decider', '{"kind":"LONG","content":"Alice prefers short answers."}');
    const turn = aTurn({ agent: newHandle() });
    const first = await accept(turn);
    const again = await accept(turn, 200);
    expect(again).toEqual({ ...first, status: 'duplicate' });
    await test.reflected(turn.turn_id);
    expect(await accept({ ...turn }, 200)).toEqual(again);
    expect(await episodesOf(turn.agent)).toHaveLength(1);
    expect(await memoriesOf(test.http, turn.agent)).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
    expect((await test.http.get('/jobs').expect(200)).body).toMatchObject({ total: 0 });
  });

  it('eight times at once is accepted once', async () => {
    const turn = aTurn({ agent: newHandle() });
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(turn)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
    expect(new Set(answers.map(({ body }) => (body as Receipt).episode_id)).size).toBe(1);
    await test.reflected(turn.turn_id);
    expect(await episodesOf(turn.agent)).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
  });

  it.each([
    [{ review_outcome: 'failed' }],
    [{ tool_sequence: ['send_message', 'get_order'] }],
    [{ interactions: [] }],
    [{ agent: 'somebody-else' }],
  ])('with another body is 409: %j', async (changes) => {
    const turn = aTurn({ agent: newHandle() });
    const first = await accept(turn);
    expectProblem(await post({ ...turn, ...changes }), 409, 'turn.conflict');
    expect(await accept(turn, 200)).toEqual({ ...first, status: 'duplicate' });
    expect(await episodesOf(turn.agent)).toMatchObject([{ id: first.episode_id, review_outcome: 'done' }]);
  });

  it('of another turn engine’s reading, in the order of its keys, is the same', async () => {
    const turn = aTurn({ agent: newHandle() });
    await accept(turn);
    const reversed = Object.fromEntries(Object.entries(turn).reverse()) as TurnBody;
    expect(await accept(reversed, 200)).toMatchObject({ status: 'duplicate' });
  });
});

describe('trigger events', () => {
  it('that a done turn had make a later turn a duplicate of it, in whatever order', async () => {
    const agent = newHandle();
    const first = await accept(aTurn({ agent, trigger_event_ids: ['m-1', 'm-2'] }));
    for (const review_outcome of ['done', 'failed', 'self_iterate']) {
      const retried = aTurn({ agent, trigger_event_ids: ['m-2', 'm-1', 'm-2'], review_outcome });
      expect(await accept(retried, 200)).toEqual({ ...first, status: 'duplicate' });
      expectProblem(await test.http.get(`/turns/${retried.turn_id}`), 404, 'turn.not_found');
    }
    expect(await episodesOf(agent)).toHaveLength(1);
  });

  it('of a failed or unfinished try never hide the later good one', async () => {
    const agent = newHandle();
    const trigger_event_ids = ['m-1'];
    for (const review_outcome of ['failed', 'self_iterate', 'failed', 'done']) {
      await accept(aTurn({ agent, trigger_event_ids, review_outcome }));
    }
    await accept(aTurn({ agent, trigger_event_ids }), 200);
    expect((await episodesOf(agent)).map((episode) => episode.review_outcome).sort()).toEqual([
      'done',
      'failed',
      'failed',
      'self_iterate',
    ]);
  });

  it('make duplicates within one agent alone, and not where there are none', async () => {
    const [one, two] = [newHandle(), newHandle()];
    await accept(aTurn({ agent: one, trigger_event_ids: ['m-1'] }));
    await accept(aTurn({ agent: two, trigger_event_ids: ['m-1'] }));
    await accept(aTurn({ agent: one, trigger_event_ids: ['m-1', 'm-2'] }));
    await accept(aTurn({ agent: one, trigger_event_ids: [] }));
    await accept(aTurn({ agent: one, trigger_event_ids: [] }));
    expect(await episodesOf(one)).toHaveLength(4);
  });

  it('that eight turns are about at once are worked on once', async () => {
    const agent = newHandle();
    const turns = Array.from({ length: 8 }, () => aTurn({ agent, trigger_event_ids: ['m-1'] }));
    const answers = await Promise.all(turns.map(post));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
    expect(new Set(answers.map(({ body }) => (body as Receipt).turn_id)).size).toBe(1);
    expect(await episodesOf(agent)).toHaveLength(1);
  });

  it('that an unfinished turn and a new one finish at once are done once', async () => {
    const agent = newHandle();
    const trigger_event_ids = ['m-1'];
    const unfinished = Array.from({ length: 4 }, () =>
      aTurn({ agent, trigger_event_ids, review_outcome: 'self_iterate' }),
    );
    for (const turn of unfinished) await accept(turn);
    const finished = unfinished.flatMap((turn) => [
      { ...turn, review_outcome: 'done' },
      aTurn({ agent, trigger_event_ids }),
    ]);
    const answers = await Promise.all(finished.map(post));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
    expect(await episodesOf(agent, '?outcome=done')).toHaveLength(1);
  });
});

describe('a self_iterate turn', () => {
  it('is superseded by a later body under its turn_id: its episode and its reflection are new', async () => {
    model.reply('persist_decider', '{"kind":"LONG","content":"Alice prefers short answers."}');
    const turn = aTurn({ agent: newHandle(), trigger_event_ids: ['m-1'], review_outcome: 'self_iterate' });
    const first = await accept(turn);
    expect((await test.reflected(turn.turn_id)).reflection).toMatchObject({
      status: 'done',
      workers: expect.arrayContaining([
        expect.objectContaining({
          worker: 'persist_decider',
          status: 'skipped',
          reason: 'non_terminal',
          attempts: 0,
        }),
      ]),
    });
    const again = { ...turn, iterations: 2 };
    const second = await accept(again);
    expect(second).toEqual({ turn_id: turn.turn_id, episode_id: expect.any(String), status: 'superseded' });
    expect(second.episode_id).not.toBe(first.episode_id);
    const done = { ...turn, iterations: 3, review_outcome: 'done', tool_sequence: ['answer'] };
    const third = await accept(done);
    expect(third.status).toBe('superseded');
    expect(await accept(done, 200)).toEqual({ ...third, status: 'duplicate' });

    expect((await test.reflected(turn.turn_id)).reflection).toMatchObject({
      status: 'done',
      workers: expect.arrayContaining([
        expect.objectContaining({ worker: 'persist_decider', status: 'done', attempts: 1 }),
      ]),
    });
    expect(await episodesOf(turn.agent)).toMatchObject([
      { id: third.episode_id, review_outcome: 'done', tool_sequence: ['answer'] },
    ]);
    expect(await memoriesOf(test.http, turn.agent)).toHaveLength(1);
    expect(model.requests).toHaveLength(1);
    expectProblem(await post({ ...done, iterations: 4 }), 409, 'turn.conflict');
  });
});

describe('two bodies of one turn at once', () => {
  it('end with the finished one, whichever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const unfinished = aTurn({ agent: newHandle(), review_outcome: 'self_iterate' });
      const finished = { ...unfinished, iterations: 2, review_outcome: 'done' };
      const answers = await Promise.all(
        round % 2 ? [post(unfinished), post(finished)] : [post(finished), post(unfinished)],
      );
      const ofFinished = answers[round % 2 ? 1 : 0];
      expect([202]).toContain(ofFinished.status);
      expect(await episodesOf(unfinished.agent)).toMatchObject([{ review_outcome: 'done' }]);
    }
  });
});

describe('a batch', () => {
  it('of [A, A, B], sent twice, is two rows', async () => {
    const agent = newHandle();
    const [a, b] = [aTurn({ agent }), aTurn({ agent })];
    const statuses = async (): Promise<string[]> => (await batch([a, a, b])).map(({ status }) => status);
    expect(await statuses()).toEqual(['accepted', 'duplicate', 'accepted']);
    expect(await statuses()).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(await episodesOf(agent)).toHaveLength(2);
    for (const { turn_id } of [a, b]) await test.reflected(turn_id);
    expect(model.requests).toHaveLength(2);
  });

  it('judges every turn for itself, in order', async () => {
    const agent = newHandle();
    const known = aTurn({ agent });
    await accept(known);
    const good = aTurn({ agent });
    const unfinished = aTurn({ agent, review_outcome: 'self_iterate' });
    const items = await batch([
      { ...known, iterations: 2 },
      null,
      [],
      'turn',
      { turn_id: 'x' },
      { ...good, ended_at: '2026-11-02T08:00:00Z' },
      { ...good, agent: 'a\u0001' },
      good,
      known,
      unfinished,
      { ...unfinished, review_outcome: 'done' },
    ]);
    const refused = { status: 'rejected', code: 'request.invalid', errors: expect.any(Array) };
    expect(items).toEqual([
      { turn_id: known.turn_id, status: 'rejected', code: 'turn.conflict' },
      { turn_id: null, ...refused },
      { turn_id: null, ...refused },
      { turn_id: null, ...refused },
      { turn_id: 'x', ...refused },
      { turn_id: good.turn_id, ...refused },
      { turn_id: good.turn_id, ...refused },
      { turn_id: good.turn_id, status: 'accepted' },
      { turn_id: known.turn_id, status: 'duplicate' },
      { turn_id: unfinished.turn_id, status: 'accepted' },
      { turn_id: unfinished.turn_id, status: 'superseded' },
    ]);
    expect(items[4]!.errors!.map(({ path }) => path)).toEqual(expect.arrayContaining(['turn_id', 'agent', 'plan']));
  });

  it('with reflect false stores episodes only', async () => {
    const turn = aTurn({ agent: newHandle() });
    expect(await batch([turn], { reflect: false })).toEqual([{ turn_id: turn.turn_id, status: 'accepted' }]);
    expect((await test.reflected(turn.turn_id)).reflection).toEqual({
      status: 'skipped',
      reason: 'not_requested',
      workers: [],
    });
    expect(await episodesOf(turn.agent)).toHaveLength(1);
    expect(model.requests).toHaveLength(0);
  });

  it('of nothing is fine; of 501, of no list or with an unknown field it is refused', async () => {
    expect(await batch([])).toEqual([]);
    for (const body of [{ turns: Array(501).fill({}) }, { turns: {} }, {}, { turns: [], dry_run: true }]) {
      const answer = await test.http.post('/turns/batch').send(body);
      expectProblem(answer, 422, 'request.invalid');
    }
  });
});

describe('episodes', () => {
  it('are searched by what was said and planned, filtered, and walked page by page', async () => {
    const agent = newHandle();
    for (let index = 0; index < 5; index++) {
      await accept(
        aTurn({
          agent,
          interactions: [aMessage({ body: `Please book flight number ${index}` })],
          review_outcome: index === 3 ? 'failed' : 'done',
          started_at: `2026-11-0${index + 1}T09:00:00Z`,
          ended_at: `2026-11-0${index + 1}T09:01:00Z`,
        }),
      );
    }
    const zebra = aTurn({ agent, plan: { decision: 'direct', summary: 'feed the zebra' } });
    await accept(zebra);
    expect(await episodesOf(agent, '?q=zebra&limit=1')).toMatchObject([{ turn_id: zebra.turn_id }]);
    expect(await episodesOf(agent, '?q=%20')).toEqual([]);
    expect(await episodesOf(agent, '?outcome=failed')).toMatchObject([{ task_summary: 'Please book flight number 3' }]);
    expect(await episodesOf(agent, '?outcome=failed&q=flight')).toHaveLength(1);
    expect(await episodesOf(agent, '?kind=compacted')).toEqual([]);
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await test.http.get(`/agents/${agent}/episodes?limit=4${cursor && `&cursor=${cursor}`}`);
      const page = body as { items: EpisodeView[]; next_cursor: string | null; total: number };
      expect(page.total).toBe(6);
      walked.push(...page.items.map(({ started_at }) => started_at.slice(8, 10)));
      cursor = page.next_cursor;
    }
    expect(walked).toEqual(['05', '04', '03', '02', '02', '01']);
    for (const query of ['limit=0', 'limit=201', 'outcome=x', 'kind=x', 'cursor=x']) {
      const answer = await test.http.get(`/agents/${agent}/episodes?${query}`);
      expectProblem(answer, 422, 'request.invalid');
    }
  });

  it('of a turn whose messages were all empty hold no salient text; the task stands in where there is no body', async () => {
    const agent = newHandle();
    await accept(aTurn({ agent, interactions: [aMessage({ body: '' }), aMessage({ body: '  ' })] }));
    await accept(aTurn({ agent, interactions: [aMessage({ body: null })], started_at: '2026-11-02T09:00:01Z' }));
    expect((await episodesOf(agent)).map(({ task_summary }) => task_summary)).toEqual(['Answer the message', '']);
  });
});
