import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppEventType, EventDraft } from '../src/platform/events/app-events.js';
import { EventBus } from '../src/platform/events/event-bus.js';
import { EventRecorder } from '../src/views/telemetry/event-recorder.js';
import { EventStore } from '../src/views/telemetry/event.store.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { callTool, eventually, register } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage, aTurn } from './support/turns.js';

interface Event {
  id: string;
  type: string;
  timestamp: string;
  agent_id: string | null;
  agent_handle: string | null;
  role: string | null;
  turn_id: string | null;
  trace_id: string | null;
  span_id: string | null;
  payload: Record<string, unknown>;
}

const FIELDS = [
  'agent_handle',
  'agent_id',
  'id',
  'payload',
  'role',
  'span_id',
  'timestamp',
  'trace_id',
  'turn_id',
  'type',
];
const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const traceparent = `00-${TRACE}-${SPAN}-01`;

const model = await ScriptedModel.start();
let test: TestApp;
beforeAll(async () => {
  test = await startApp({ model });
  model.reply('persist_decider', '{"kind":"LONG","content":"Alice prefers short answers."}');
});
afterAll(async () => {
  await test.close();
  await model.close();
});

async function page(query = ''): Promise<{ items: Event[]; next_cursor: string | null; total: number }> {
  await test.app.get(EventRecorder).flush();
  const { body } = await test.http.get(`/events${query}`).expect(200);
  return body;
}

/** An event of a made-up type, as other rooms publish theirs. */
function publish(changes: Record<string, unknown> = {}, type = 'made.up'): void {
  const draft = {
    org_id: org,
    agent_id: null,
    agent_handle: null,
    role: null,
    turn_id: null,
    trace_id: null,
    span_id: null,
    payload: {},
    ...changes,
  };
  test.app.get(EventBus).publish(type as AppEventType, draft as unknown as EventDraft<AppEventType>);
}
let org: string;
beforeAll(async () => {
  await register(test.http, 'support-1');
  [{ id: org }] = (await test.database.query<{ id: string }>('select id from organizations')) as [{ id: string }];
});

describe('GET /events', () => {
  it('shows all that a turn led to, in the wire form, under its trace', async () => {
    const turn = aTurn({ agent: 'teller', conversation_id: 'C7' });
    const plan = {
      turn_id: turn.turn_id,
      role: 'support',
      task_description: 'Answer',
      interactions: [aMessage()],
    };
    await test.http.post('/agents/teller/plan-context').set({ traceparent }).send(plan).expect(200);
    await test.http.post('/turns').send(turn).expect(202);
    await test.reflected(turn.turn_id);
    const events = await eventually(
      async () => (await page(`?turn_id=${turn.turn_id}`)).items,
      (items) => items.some(({ type }) => type === 'reflection.completed'),
    );
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        'plan_prefetch.summary',
        'turn.completed',
        'counterparty_profile.updated',
        'episode.written',
        'auxiliary_call.completed',
        'persist_decider.completed',
        'reflection.completed',
      ]),
    );
    const { body: memory } = await test.http.get('/agents/teller/memory').expect(200);
    for (const event of events) {
      expect(Object.keys(event).sort()).toEqual(FIELDS);
      expect(event).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        agent_id: memory.agent_id,
        agent_handle: 'teller',
        role: 'support',
        turn_id: turn.turn_id,
        trace_id: TRACE,
        span_id: SPAN,
      });
    }
    const completed = events.find(({ type }) => type === 'turn.completed')!;
    expect(completed.payload).toMatchObject({
      review_outcome: 'done',
      tool_sequence: ['get_order', 'send_message'],
      duration_ms: 60_000,
      interactions: [{ platform: 'slack', external_id: 'U42', display_name: 'Alice' }],
    });
    expect(completed.payload.interactions).not.toEqual([expect.objectContaining({ body: expect.anything() })]);
    expect([...events].sort((a, b) => b.timestamp.localeCompare(a.timestamp))).toEqual(events);
  });

  it.each([
    ['the call', { traceparent }, TRACE],
    ['the context', {}, TRACE],
  ] as const)('has a tool under the trace of %s', async (_, headers, trace) => {
    const turnId = randomUUID();
    const plan = { turn_id: turnId, role: 'support', task_description: '', interactions: [] };
    await test.http
      .post('/agents/caller/plan-context')
      .set(Object.keys(headers).length > 0 ? {} : { traceparent })
      .send(plan)
      .expect(200);
    await test.http.post('/agents/caller/diary').send({ kind: 'diary_long', content: `Fact ${turnId}` });
    model.reply('memory_filter', '[1]');
    const call = { turn_id: turnId, phase: 'plan', arguments: { context_hint: 'facts' } };
    await test.http.post('/agents/caller/tools/refresh_memory').set(headers).send(call).expect(200);
    const { items } = await page(`?turn_id=${turnId}&type=auxiliary_call.completed`);
    expect(items.map(({ trace_id: traceId, span_id: spanId }) => [traceId, spanId])).toEqual([[trace, SPAN]]);
  });

  it('has a turn under no trace where none was sent, and a malformed one counts as none', async () => {
    for (const header of [
      '',
      '00-zz-b7ad6b7169203331-01',
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `ff-${TRACE}-${SPAN}-01`,
    ]) {
      const turn = aTurn({ agent: 'untraced' });
      await test.http.post('/turns').set('traceparent', header).send(turn).expect(202);
      const { items } = await page(`?turn_id=${turn.turn_id}&type=turn.completed`);
      expect(items).toMatchObject([{ trace_id: null, span_id: null }]);
    }
  });

  it('has a batch under the trace of its call', async () => {
    const turns = [aTurn({ agent: 'batch' }), aTurn({ agent: 'batch' })];
    await test.http.post('/turns/batch').set({ traceparent }).send({ turns, reflect: false }).expect(200);
    const { items, total } = await page('?agent=batch&type=turn.completed');
    expect(items.map(({ trace_id: traceId }) => traceId)).toEqual([TRACE, TRACE]);
    expect(total).toBe(2);
  });

  it('filters by type, agent and time, and pages without loss or repetition while events come in', async () => {
    const agentId = await register(test.http, 'paged');
    await test.app.get(EventRecorder).flush();
    const since = new Date(Date.now() - 1).toISOString();
    for (let index = 0; index < 25; index++) publish({ agent_id: agentId, agent_handle: 'paged', payload: { index } });
    const seen: Event[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: Awaited<ReturnType<typeof page>> = await page(
        `?type=made.up&agent=paged&since=${since}&limit=7${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...next.items);
      cursor = next.next_cursor;
      publish({ agent_id: agentId, payload: { late: true } });
    }
    const indices = seen.map(({ payload }) => payload.index).filter((index) => index !== undefined);
    expect([...indices].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 25 }, (_, index) => index));
    expect((await page(`?agent=${agentId}&type=made.up`)).items.length).toBeGreaterThanOrEqual(25);
    expect((await page(`?agent=paged&since=${new Date(Date.now() + 60_000).toISOString()}`)).items).toEqual([]);
    expect((await page('?type=nothing.of_the_kind')).total).toBe(0);
  });

  it.each([
    ['turn_id=x', 'turn_id'],
    ['since=yesterday', 'since'],
    ['since=2026-01-01', 'since'],
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
    ['type=', 'type'],
    ['org_id=x', 'org_id'],
  ])('refuses ?%s', async (query, path) => {
    const { errors } = expectProblem(await test.http.get(`/events?${query}`), 422, 'request.invalid');
    expect(errors!.map((error) => error.path)).toEqual([path]);
  });

  it('knows no other agent', async () => {
    expectProblem(await test.http.get('/events?agent=nobody'), 404, 'agent.not_found');
    expectProblem(await test.http.get(`/events?agent=${randomUUID()}`), 404, 'agent.not_found');
  });

  it('holds whatever is published, NUL and lone surrogates made storable, giants clipped', async () => {
    publish({ payload: { text: 'a\u0000b\ud800', deep: { list: ['\u0000'] } } }, 'odd.text');
    publish({ payload: { list: Array.from({ length: 10_000 }, () => 'x'.repeat(200)), kept: 1 } }, 'odd.giant');
    publish({ payload: null }, 'odd.nothing');
    expect((await page('?type=odd.text')).items[0]!.payload).toEqual({
      text: 'a\ufffdb\ufffd',
      deep: { list: ['\ufffd'] },
    });
    const giant = (await page('?type=odd.giant')).items[0]!.payload;
    expect(giant).toMatchObject({ kept: 1, clipped: true });
    expect(giant.list).toHaveLength(200);
    expect((await page('?type=odd.nothing')).total).toBe(1);
  });
});

describe('an event store that is dead', () => {
  const rename = (from: string, to: string): Promise<unknown> =>
    test.database.query(`alter table ${from} rename to ${to}`);

  it('breaks no turn and no tool, and what happened meanwhile is stored once it is back', async () => {
    const turn = aTurn({ agent: 'survivor' });
    await test.app.get(EventRecorder).flush();
    await rename('learning_events', 'learning_events_away');
    try {
      await test.http.post('/turns').send(turn).expect(202);
      expect((await test.reflected(turn.turn_id)).reflection.status).toBe('done');
      expect(
        await callTool(test.http, 'survivor', 'reflect_and_persist', { content: 'Still learning.' }),
      ).toMatchObject({
        is_error: false,
      });
      await expect(test.app.get(EventRecorder).flush()).rejects.toThrow();
      const { text } = await test.http.get('/metrics').expect(200);
      expect(Number(/agent_learning_event_store_failures_total (\d+)/.exec(text)![1])).toBeGreaterThan(0);
      expect(Number(/agent_learning_events_waiting (\d+)/.exec(text)![1])).toBeGreaterThan(3);
    } finally {
      await rename('learning_events_away', 'learning_events');
    }
    const types = (await page(`?turn_id=${turn.turn_id}`)).items.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['turn.completed', 'episode.written', 'reflection.completed']));
  });

  it('loses the one event that it refuses, not those beside it', async () => {
    publish({ payload: { n: 1 } }, 'beside.it');
    publish({ agent_id: 'no uuid' }, 'refused');
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    publish({ payload: endless }, 'endless');
    publish({ payload: { n: 2 } }, 'beside.it');
    await test.app.get(EventRecorder).flush();
    expect((await page('?type=beside.it')).total).toBe(2);
    expect((await page('?type=refused')).total).toBe(0);
  });
});

describe('the sweep of events', () => {
  it('deletes those that are older than the retention', async () => {
    publish({}, 'kept.one');
    await test.app.get(EventRecorder).flush();
    const days = (count: number): Date => new Date(Date.now() - count * 86_400_000);
    for (const [type, age] of [
      ['old.one', 40],
      ['young.one', 20],
    ] as const) {
      await test.database.query(
        `insert into learning_events (id, occurred_at, position, org_id, type, payload)
         values (gen_random_uuid(), $1, nextval('learning_event_positions'), $2, $3, '{}')`,
        [days(age), org, type],
      );
    }
    await test.http.post('/jobs/sweep').expect(202);
    await eventually(
      () => page('?type=old.one'),
      ({ total }) => total === 0,
    );
    for (const type of ['young.one', 'kept.one']) expect((await page(`?type=${type}`)).total).toBe(1);
    expect(await test.app.get(EventStore).sweep(days(30))).toBe(0);
  });
});
