import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppEventType, EventDraft } from '../src/platform/events/app-events.js';
import { EventBus } from '../src/platform/events/event-bus.js';
import { ShutdownSignal } from '../src/platform/http/shutdown-signal.js';
import { EventRecorder } from '../src/views/telemetry/event-recorder.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { eventually } from './support/requests.js';
import { StreamClient } from './support/stream-client.js';
import { aTurn } from './support/turns.js';

const ROOT = 'root-key';
const root = { authorization: `Bearer ${ROOT}` };
const clients: StreamClient[] = [];
let test: TestApp;
let org: string;

beforeAll(async () => {
  test = await startApp({ env: { ADMIN_API_KEY: ROOT }, config: { telemetry: { max_streams: 5 } } });
  const turn = aTurn();
  await test.http.post('/turns').set(root).send(turn).expect(202);
  await test.reflected(turn.turn_id, root);
  await test.app.get(EventRecorder).flush();
  [{ id: org }] = (await test.database.query<{ id: string }>('select id from organizations')) as [{ id: string }];
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => test.close());

function url(query = ''): string {
  return `http://127.0.0.1:${(test.app.getHttpServer().address() as AddressInfo).port}/events/stream${query}`;
}

async function open(query = '', headers: Record<string, string> = root): Promise<StreamClient> {
  const client = await StreamClient.open(url(query), headers);
  clients.push(client);
  return client;
}

function publish(turnId: string | null, type = 'made.up', changes: Record<string, unknown> = {}): void {
  const nobody = { agent_id: null, agent_handle: null, role: null, trace_id: null, span_id: null };
  const draft = { org_id: org, ...nobody, turn_id: turnId, payload: {}, ...changes };
  test.app.get(EventBus).publish(type as AppEventType, draft as unknown as EventDraft<AppEventType>);
}

async function keyOf(draft: object): Promise<{ id: string; headers: { authorization: string } }> {
  const { body } = await test.http.post('/api-keys').set(root).send(draft).expect(201);
  return { id: body.id, headers: { authorization: `Bearer ${body.key}` } };
}

async function stored(query: string): Promise<{ id: string }[]> {
  await test.app.get(EventRecorder).flush();
  return (await test.http.get(`/events?limit=200&${query}`).set(root).expect(200)).body.items;
}

describe('GET /events/stream', () => {
  it('sends what happens from now on, in the wire form, and nothing older', async () => {
    const client = await open('?agent=support-1');
    const whole = await open();
    expect(client.status).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
    });
    const turn = aTurn();
    await test.http.post('/turns').set(root).send(turn).expect(202);
    await eventually(
      () => client.events.length,
      (count) => count >= 3,
    );
    await eventually(
      () => whole.ids,
      (ids) => client.ids.every((id) => ids.includes(id)),
    );
    const listed = await stored(`turn_id=${turn.turn_id}`);
    expect(client.events.every(({ data }) => data.turn_id === turn.turn_id)).toBe(true);
    for (const { id, data } of client.events) {
      expect(id).toBe(data.id);
      expect(listed).toContainEqual(data);
    }
  });

  it('goes on after Last-Event-ID without loss or repetition, wherever it is cut', async () => {
    const turnId = randomUUID();
    const got: string[] = [];
    let client = await open(`?turn_id=${turnId}`);
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 40; index++) publish(turnId);
      await eventually(
        () => client.events.length,
        (count) => count >= 10 + round,
      );
      await client.close();
      got.push(...client.ids);
      for (let index = 0; index < 7; index++) publish(turnId);
      client = await open(round % 2 ? `?turn_id=${turnId}&last_event_id=${got.at(-1)}` : `?turn_id=${turnId}`, {
        ...root,
        ...(round % 2 ? {} : { 'last-event-id': got.at(-1)! }),
      });
    }
    await eventually(
      () => got.length + client.events.length,
      (count) => count >= 6 * 47,
    );
    got.push(...client.ids);
    const all = (await stored(`turn_id=${turnId}`)).map(({ id }) => id);
    expect(all).toHaveLength(200);
    expect(new Set(got).size).toBe(got.length);
    expect(got).toHaveLength(6 * 47);
    expect(got).toEqual(expect.arrayContaining(all));
  });

  it('filters as the list does, and begins with the past where `since` asks for it', async () => {
    const [turnId, since] = [randomUUID(), new Date().toISOString()];
    publish(turnId, 'past.one');
    publish(turnId, 'past.two');
    await test.app.get(EventRecorder).flush();
    const client = await open(`?type=past.one&turn_id=${turnId}&since=${since}`);
    await eventually(
      () => client.events.length,
      (count) => count === 1,
    );
    publish(randomUUID(), 'past.one');
    publish(turnId, 'past.two');
    publish(turnId, 'past.one');
    await eventually(
      () => client.events.length,
      (count) => count === 2,
    );
    expect(client.events.map(({ data }) => [data.type, data.turn_id])).toEqual([
      ['past.one', turnId],
      ['past.one', turnId],
    ]);
  });

  it("shows nothing of another organisation, whose event's id is no place to go on from", async () => {
    const { headers } = await keyOf({ name: 'other', scopes: ['read'], organization: 'Other' });
    const [mine] = await stored('type=turn.completed');
    const stranger = await open('', headers);
    publish(null, 'secret.thing');
    const own = await open('?since=2020-01-01T00:00:00Z');
    await eventually(
      () => own.events.map(({ data }) => data.type),
      (types) => types.includes('secret.thing'),
    );
    const resumed = await open('', { ...headers, 'last-event-id': mine!.id });
    await eventually(
      () => resumed.comments + stranger.comments,
      (count) => count >= 2,
    );
    expect([...stranger.events, ...resumed.events]).toEqual([]);
  });

  it('goes on where the event that was seen last is gone', async () => {
    const turnId = randomUUID();
    for (let index = 0; index < 3; index++) publish(turnId);
    await test.app.get(EventRecorder).flush();
    const order = await test.database.query<{ id: string }>(
      'select id from learning_events where turn_id = $1 order by position',
      [turnId],
    );
    await test.database.query('delete from learning_events where id = $1', [order[0]!.id]);
    const client = await open(`?turn_id=${turnId}`, { ...root, 'last-event-id': order[0]!.id });
    await eventually(
      () => client.ids,
      (ids) => ids.length === 2,
    );
    expect(client.ids).toEqual(order.slice(1).map(({ id }) => id));
  });

  it.each([
    ['?turn_id=x', {}, 422, 'request.invalid'],
    ['?since=now', {}, 422, 'request.invalid'],
    ['?org=x', {}, 422, 'request.invalid'],
    ['?last_event_id=7', {}, 422, 'request.invalid'],
    ['', { 'last-event-id': '7; drop table' }, 422, 'request.invalid'],
    ['', { 'last-event-id': '3f0a8f0e-6f6b-4a53-9c43-5d1f6d1a7e10' }, 404, 'event.not_found'],
    ['?agent=nobody', {}, 404, 'agent.not_found'],
  ] as const)('refuses %s %j', async (query, headers, status, code) => {
    expectProblem(await test.http.get(`/events/stream${query}`).set({ ...root, ...headers }), status, code);
  });

  it('serves so many at a time and no more, and others once those have gone', async () => {
    const five = await Promise.all(Array.from({ length: 5 }, () => open()));
    expect(five.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const refused = await test.http.get('/events/stream').set(root);
    expectProblem(refused, 429, 'events.too_many_streams');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await five[0]!.close();
    await eventually(
      async () => (await open()).status,
      (status) => status === 200,
    );
  });

  it('answers HEAD without a stream', async () => {
    const { status, headers } = await test.http.head('/events/stream').set(root);
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('waits for a slow reader without keeping what it does not read', async () => {
    const turnId = randomUUID();
    const client = await open(`?turn_id=${turnId}`);
    client.pause();
    const text = 'x'.repeat(50_000);
    for (let index = 0; index < 300; index++) publish(turnId, 'made.up', { payload: { index, text } });
    await test.app.get(EventRecorder).flush();
    client.resume();
    await eventually(
      () => client.events.length,
      (count) => count === 300,
    );
    expect(client.events.map(({ data }) => (data.payload as { index: number }).index)).toEqual(
      Array.from({ length: 300 }, (_, index) => index),
    );
  });
});

describe('the key of a stream', () => {
  it('ends it when it is revoked, before anything more is sent', async () => {
    const { id, headers } = await keyOf({ name: 'short', scopes: ['read'] });
    const client = await open('', headers);
    const turnId = randomUUID();
    publish(turnId);
    await eventually(
      () => client.events.length,
      (count) => count > 0,
    );
    await test.http.delete(`/api-keys/${id}`).set(root).expect(204);
    publish(turnId);
    await client.ended;
    expect(client.events).toHaveLength(1);
  });

  it('ends it when it expires, though nothing happens', async () => {
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const { headers } = await keyOf({ name: 'brief', scopes: ['read'], expires_at });
    const client = await open('', headers);
    expect(client.status).toBe(200);
    await client.ended;
    expect(Date.now()).toBeGreaterThan(Date.parse(expires_at));
  });

  it('needs the scope read', async () => {
    const { headers } = await keyOf({ name: 'engine', scopes: ['engine'] });
    expectProblem(await test.http.get('/events/stream').set(headers), 403, 'auth.scope_missing');
    expectProblem(await test.http.post('/events/ticket').set(headers), 403, 'auth.scope_missing');
  });
});

describe('a ticket', () => {
  const issue = async (headers: Record<string, string> = root): Promise<{ ticket: string; expires_at: string }> =>
    (await test.http.post('/events/ticket').set(headers).expect(201)).body;

  it('opens one stream once, within a minute', async () => {
    const { ticket, expires_at: expiresAt } = await issue();
    const left = Date.parse(expiresAt) - Date.now();
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    const client = await open(`?ticket=${ticket}`, {});
    expect(client.status).toBe(200);
    publish(randomUUID());
    await eventually(
      () => client.events.length,
      (count) => count > 0,
    );
    expectProblem(await test.http.get(`/events/stream?ticket=${ticket}`), 401, 'auth.invalid_ticket');
  });

  it('is one of two that use it at once', async () => {
    const { ticket } = await issue();
    const both = await Promise.all([open(`?ticket=${ticket}`, {}), open(`?ticket=${ticket}`, {})]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it.each(['', 'x', "' or 1=1--", 'x'.repeat(5_000), '%00'])('that is none is 401: %s', async (ticket) => {
    expectProblem(await test.http.get(`/events/stream?ticket=${ticket}`), 401, 'auth.invalid_ticket');
    expectProblem(await test.http.get(`/events/stream?ticket=${ticket}&ticket=x`), 401, 'auth.invalid_ticket');
  });

  it('opens nothing else', async () => {
    const { ticket } = await issue();
    for (const path of ['/events', '/agents', '/metrics', '/events/stream/']) {
      expectProblem(await test.http.get(`${path}?ticket=${ticket}`), 401, 'auth.required');
    }
    expectProblem(await test.http.post(`/events/ticket?ticket=${ticket}`), 401, 'auth.required');
  });

  it('that has expired, or whose key has been revoked, is 401', async () => {
    const { ticket } = await issue();
    await test.database.query('update stream_tickets set expires_at = $1', [new Date(Date.now() - 1)]);
    expectProblem(await test.http.get(`/events/stream?ticket=${ticket}`), 401, 'auth.invalid_ticket');
    const { id, headers } = await keyOf({ name: 'gone', scopes: ['read'] });
    const orphan = await issue(headers);
    await test.http.delete(`/api-keys/${id}`).set(root).expect(204);
    expectProblem(await test.http.get(`/events/stream?ticket=${orphan.ticket}`), 401, 'auth.invalid_ticket');
  });

  it('is stored as a hash, and swept', async () => {
    const { ticket } = await issue();
    const rows = await test.database.query<{ row: string }>('select row_to_json(t)::text as row from stream_tickets t');
    expect(rows.map(({ row }) => row).join()).not.toContain(ticket);
    await test.database.query('update stream_tickets set expires_at = $1', [new Date(Date.now() - 1)]);
    await test.http.post('/jobs/sweep').set(root).expect(202);
    await eventually(
      () => test.database.query('select from stream_tickets'),
      (left) => left.length === 0,
    );
  });
});

describe('a shutdown', () => {
  it('ends every stream at once', async () => {
    const streams = await Promise.all([open(), open('?since=2020-01-01T00:00:00Z')]);
    test.app.get(ShutdownSignal).abort();
    await Promise.all(streams.map(({ ended }) => ended));
    expect(streams.every(({ text }) => text.endsWith('\n\n'))).toBe(true);
  });
});
