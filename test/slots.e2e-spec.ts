import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { organizationId } from '../src/platform/auth/name-based-ids.js';
import { ReflectEngine } from '../src/processes/reflection/reflect-engine.js';
import { startApp, type TestApp, type TurnAnswer } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { aTurn } from './support/turns.js';

interface Slot {
  slot_id: string;
  expires_at: string;
}

const ORG = organizationId('default');
const TOTAL = 5;

let test: TestApp;
let other: Record<string, string>;
beforeAll(async () => {
  test = await startApp({ config: { concurrency: { max_total: TOTAL } } });
  await test.http
    .put('/organization')
    .send({
      name: 'default',
      roles: [{ name: 'support', max_concurrent: 2 }, { name: 'single', max_concurrent: 1 }, { name: 'free' }],
    })
    .expect(200);
  const { body } = await test.http.post('/api-keys').send({ name: 'o', scopes: ['engine'], organization: 'Other' });
  other = { authorization: `Bearer ${(body as { key: string }).key}` };
});
afterAll(() => test.close());
beforeEach(async () => {
  await test.database.query('delete from execution_slots');
  await test.database.query('delete from execution_slot_waits');
});

const acquire = async (role: string, headers: Record<string, string> = {}): Promise<Response> =>
  test.http.post(`/roles/${encodeURIComponent(role)}/slots`).set(headers);

async function acquired(role: string): Promise<Slot> {
  const response = await acquire(role);
  expect(response.status).toBe(201);
  return response.body as Slot;
}

async function refused(role: string): Promise<void> {
  const response = await acquire(role);
  expectProblem(response, 429, 'slot.none_free');
  expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1);
}

const count = async (answers: Promise<Response>[], status: number): Promise<number> =>
  (await Promise.all(answers)).filter((answer) => answer.status === status).length;

const waitingSince = (role: string, seconds: number): Promise<unknown> =>
  test.database.query(
    `insert into execution_slot_waits (org_id, turn_id, role, since, asked_at) values ($1, $2, $3, $4, now())`,
    [ORG, randomUUID(), role, new Date(Date.now() - seconds * 1_000)],
  );

describe('an execution slot', () => {
  it('is held for 120 seconds', async () => {
    const before = Date.now();
    const slot = await acquired('support');
    expect(slot).toEqual({ slot_id: expect.stringMatching(/^[0-9a-f-]{36}$/), expires_at: expect.any(String) });
    const end = Date.parse(slot.expires_at);
    expect(end).toBeGreaterThanOrEqual(before + 120_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 120_000);
  });

  it("is one of its role's max_concurrent", async () => {
    await acquired('support');
    await acquired('support');
    await refused('support');
    await acquired('single');
    await refused('single');
    await acquired('free');
  });

  it("is one of the organisation's total", async () => {
    for (let i = 0; i < TOTAL; i++) await acquired('free');
    await refused('free');
    await refused('support');
    await refused('unknown role');
    expect((await acquire('free', other)).status).toBe(201);
  });

  it('is never one too many, however many ask at once', async () => {
    expect(
      await count(
        Array.from({ length: 12 }, () => acquire('support')),
        201,
      ),
    ).toBe(2);
    const roles = ['support', 'free', 'single', 'new', 'free', 'free', 'new', 'free', 'single', 'new'];
    expect(
      await count(
        roles.map((role) => acquire(role)),
        201,
      ),
    ).toBe(TOTAL - 2);
    expect(await test.database.query('select 1 from execution_slots')).toHaveLength(TOTAL);
  });

  it('is renewed', async () => {
    const { slot_id: id } = await acquired('single');
    await test.database.query(`update execution_slots set expires_at = $1`, [new Date(Date.now() + 2_000)]);
    const { body } = (await test.http.put(`/slots/${id}`).expect(200)) as { body: Slot };
    expect(body.slot_id).toBe(id);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 110_000);
    await refused('single');
  });

  it('that has expired is free, and cannot be renewed', async () => {
    const { slot_id: id } = await acquired('single');
    await test.database.query(`update execution_slots set expires_at = $1`, [new Date(Date.now() - 1)]);
    expectProblem(await test.http.put(`/slots/${id}`), 404, 'slot.not_found');
    await acquired('single');
    expectProblem(await test.http.put(`/slots/${id}`), 404, 'slot.not_found');
  });

  it('is given back, also twice', async () => {
    const { slot_id: id } = await acquired('single');
    await test.http.delete(`/slots/${id}`).expect(204);
    await test.http.delete(`/slots/${id}`).expect(204);
    await test.http.delete(`/slots/${randomUUID()}`).expect(204);
    expectProblem(await test.http.put(`/slots/${id}`), 404, 'slot.not_found');
    await acquired('single');
  });

  it("is not another organisation's to renew or to give back", async () => {
    const { slot_id: id } = await acquired('single');
    expectProblem(await test.http.put(`/slots/${id}`).set(other), 404, 'slot.not_found');
    await test.http.delete(`/slots/${id}`).set(other).expect(204);
    await refused('single');
  });

  it('with an id that is none is 404', async () => {
    expectProblem(await test.http.put('/slots/1'), 404, /not_found$/);
    expectProblem(await test.http.delete('/slots/1'), 404, /not_found$/);
  });
});

describe('a reflection that waits for a slot', () => {
  async function untilWaiting(turnId: string): Promise<void> {
    const reflection = async (): Promise<{ status: string; reason: string | null }> =>
      ((await test.http.get(`/turns/${turnId}`)).body as TurnAnswer).reflection;
    for (let i = 0; i < 200 && (await reflection()).status !== 'retrying'; i++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(await reflection()).toMatchObject({ status: 'retrying', reason: 'slot' });
  }

  it('keeps one of its role from live turns once it has waited a minute', async () => {
    await waitingSince('support', 50);
    await acquired('support');
    await acquired('support');
    await test.database.query('delete from execution_slots');
    await test.database.query('delete from execution_slot_waits');
    await waitingSince('support', 61);
    await waitingSince('support', 300);
    await acquired('support');
    await refused('support');
    await acquired('single');
  });

  it('keeps none once it no longer asks', async () => {
    await waitingSince('single', 600);
    await test.database.query(`update execution_slot_waits set asked_at = $1`, [new Date(Date.now() - 181_000)]);
    await acquired('single');
  });

  it("keeps one of the organisation's total too", async () => {
    await waitingSince('free', 61);
    await waitingSince('single', 61);
    for (let i = 0; i < TOTAL - 1; i++) await acquired('free');
    await refused('free');
    expect((await acquire('free', other)).status).toBe(201);
  });

  it('keeps none once it waits for something else', async () => {
    const live = await acquired('single');
    const turn = aTurn({ agent: 'single-2', role: 'single' });
    await test.http.post('/turns').send(turn).expect(202);
    await untilWaiting(turn.turn_id);
    await test.database.query(`update execution_slot_waits set since = $1`, [new Date(Date.now() - 61_000)]);
    await test.database.query(`update organizations set daily_token_budget = 0 where id = $1`, [ORG]);
    await test.app.get(ReflectEngine).reflect(ORG, turn.turn_id, new AbortController().signal);
    await test.database.query(`update organizations set daily_token_budget = null where id = $1`, [ORG]);
    await test.http.delete(`/slots/${live.slot_id}`).expect(204);
    const next = await acquired('single');
    await test.http.delete(`/slots/${next.slot_id}`).expect(204);
    expect((await test.reflected(turn.turn_id)).reflection.status).toBe('done');
  });

  it('gets back at once what its own last try left behind when it was killed', async () => {
    const turn = aTurn({ agent: 'single-3', role: 'single' });
    await test.database.query(
      `insert into execution_slots (id, org_id, role, holder, turn_id, expires_at)
       values (gen_random_uuid(), $1, 'single', 'reflection', $2, now() + interval '2 minutes')`,
      [ORG, turn.turn_id],
    );
    await refused('single');
    await test.http.post('/turns').send(turn).expect(202);
    expect((await test.reflected(turn.turn_id)).reflection.status).toBe('done');
    await acquired('single');
  });

  it('gets the slot that a live turn leaves, before other live turns', async () => {
    const live = await acquired('single');
    const turn = aTurn({ agent: 'single-1', role: 'single' });
    await test.http.post('/turns').send(turn).expect(202);
    await untilWaiting(turn.turn_id);
    await test.database.query(`update execution_slot_waits set since = $1`, [new Date(Date.now() - 61_000)]);
    await test.http.delete(`/slots/${live.slot_id}`).expect(204);
    await refused('single');
    expect((await test.reflected(turn.turn_id)).reflection.status).toBe('done');
    expect(await test.database.query('select 1 from execution_slot_waits')).toEqual([]);
    await acquired('single');
  });
});
