import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppEventType, EventDraft } from '../src/platform/events/app-events.js';
import { EventBus } from '../src/platform/events/event-bus.js';
import { EventReader } from '../src/views/telemetry/event.reader.js';
import { EventRecorder } from '../src/views/telemetry/event-recorder.js';
import { startApp, type TestApp } from './support/app.js';
import { testDatabase, type TestDatabase } from './support/database.js';
import { eventually } from './support/requests.js';
import { StreamClient } from './support/stream-client.js';
import { aTurn } from './support/turns.js';

let replicas: [TestApp, TestApp];
let db: TestDatabase;
let org: string;
let clients: StreamClient[] = [];

beforeAll(async () => {
  db = await testDatabase();
  const first = await startApp();
  replicas = [first, await startApp({ keepData: true })];
  [{ id: org }] = (await db.database.query<{ id: string }>('select id from organizations')) as [{ id: string }];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await db.close();
});

async function open(replica: TestApp, query = '', headers = {}): Promise<StreamClient> {
  const { port } = replica.app.getHttpServer().address() as AddressInfo;
  const client = await StreamClient.open(`http://127.0.0.1:${port}/events/stream${query}`, headers);
  clients.push(client);
  return client;
}

function publish(replica: TestApp, turnId: string): void {
  const nobody = { agent_id: null, agent_handle: null, role: null, trace_id: null, span_id: null };
  const draft = { org_id: org, ...nobody, turn_id: turnId, payload: {} };
  replica.app.get(EventBus).publish('made.up' as AppEventType, draft as unknown as EventDraft<AppEventType>);
}

describe('two replicas', () => {
  it("stream each other's events", async () => {
    const streams = await Promise.all(replicas.map((replica) => open(replica)));
    const turns = replicas.map((_, index) => aTurn({ agent: `agent-${index}` }));
    for (const [index, replica] of replicas.entries()) await replica.http.post('/turns').send(turns[index]).expect(202);
    for (const stream of streams) {
      await eventually(
        () => stream.events.filter(({ data }) => data.type === 'turn.completed').map(({ data }) => data.turn_id),
        (ids) => turns.every((turn) => ids.includes(turn.turn_id)),
      );
    }
  });

  it('lose and repeat nothing for a reader that is cut off again and again, from one to the other, while both write', async () => {
    const turnId = randomUUID();
    let writing = true;
    let published = 0;
    const writers = replicas.map(async (replica) => {
      while (writing) {
        for (let index = 0; index < 5; index++, published++) publish(replica, turnId);
        await replica.app.get(EventRecorder).flush();
      }
    });
    const got: string[] = [];
    for (let round = 0; round < 12; round++) {
      const headers = got.length > 0 ? { 'last-event-id': got.at(-1) } : {};
      const since = got.length > 0 ? '' : '&since=2020-01-01T00:00:00Z';
      const client = await open(replicas[round % 2]!, `?turn_id=${turnId}${since}`, headers);
      await eventually(
        () => client.events.length,
        (count) => count > round * 3,
      );
      await client.close();
      got.push(...client.ids);
    }
    writing = false;
    await Promise.all(writers);
    const last = await open(replicas[0], `?turn_id=${turnId}`, { 'last-event-id': got.at(-1) });
    await eventually(
      () => got.length + last.events.length,
      (count) => count >= published,
    );
    got.push(...last.ids);
    expect(got).toHaveLength(published);
    expect(new Set(got).size).toBe(published);
  }, 60_000);

  it('show positions in the order of their commits: a reader who has seen one has been able to see all below', async () => {
    const turnId = randomUUID();
    const reader = new EventReader(db.database);
    let writing = true;
    const writers = replicas.map(async (replica) => {
      for (let batch = 0; batch < 60; batch++) {
        publish(replica, turnId);
        await replica.app.get(EventRecorder).flush();
      }
    });
    const all = Promise.all(writers).then(() => (writing = false));
    const seen: number[] = [];
    let position = 0;
    const read = async (): Promise<void> => {
      const found = await reader.after({ orgId: org, turnId }, position, 1_000);
      seen.push(...found.map((event) => event.position));
      position = seen.at(-1) ?? 0;
    };
    while (writing) await read();
    await all;
    await read();
    expect(seen).toHaveLength(120);
  }, 60_000);

  it('wait a while for one that hangs in the middle of a write, and no turn waits with them', async () => {
    const client = (await db.dataSource.createQueryRunner().connect()) as { query(sql: string): Promise<unknown> };
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(5713820416)');
    const turn = aTurn({ agent: 'patient' });
    const [first, second] = replicas;
    await first.http.post('/turns').send(turn).expect(202);
    expect((await first.reflected(turn.turn_id)).reflection.status).toBe('done');
    const { body } = await second.http.get(`/events?turn_id=${turn.turn_id}`).expect(200);
    expect(body.total).toBe(0);
    await client.query('commit');
    await eventually(
      async () => (await second.http.get(`/events?turn_id=${turn.turn_id}`)).body.total as number,
      (total) => total > 2,
    );
  }, 60_000);

  it("take each other's tickets, each once", async () => {
    const { body } = await replicas[0].http.post('/events/ticket').expect(201);
    const stream = await open(replicas[1], `?ticket=${body.ticket}`);
    expect(stream.status).toBe(200);
    expect((await open(replicas[0], `?ticket=${body.ticket}`)).status).toBe(401);
  });

  it('store events in a hypertable where TimescaleDB is there', async () => {
    const [timescale] = await db.database.query(`select from pg_extension where extname = 'timescaledb'`);
    if (!timescale) {
      expect(db.connection.hypertable).toBe(false);
      return;
    }
    const names = await db.database.query<{ hypertable_name: string }>(
      'select hypertable_name from timescaledb_information.hypertables order by 1',
    );
    expect(names.map((row) => row.hypertable_name)).toContain('learning_events');
  });
});
