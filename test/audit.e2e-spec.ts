import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { eventually } from './support/requests.js';
import { aTurn } from './support/turns.js';

interface AuditRow {
  org_id: string;
  key_id: string | null;
  key_name: string | null;
  method: string;
  route: string;
  targets: Record<string, string>;
  status: number | null;
  at: Date;
}

const root = { authorization: 'Bearer root-key' };
let test: TestApp;
beforeAll(async () => {
  test = await startApp({ env: { ADMIN_API_KEY: 'root-key' } });
  await test.http.post('/turns').set(root).send(aTurn()).expect(202);
});
afterAll(() => test.close());

const rows = (): Promise<AuditRow[]> => test.database.query<AuditRow>('select * from audit_log order by at, id');
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

async function keyOf(draft: object): Promise<{ id: string; headers: { authorization: string } }> {
  const { body } = await test.http.post('/api-keys').set(root).send(draft).expect(201);
  return { id: body.id, headers: { authorization: `Bearer ${body.key}` } };
}

/** The rows that `work` led to. */
async function rowsOf(work: () => Promise<unknown>): Promise<AuditRow[]> {
  const before = (await rows()).length;
  await work();
  return (await rows()).slice(before);
}

describe('the audit log', () => {
  it('has a row of every call with administrative rights: who, what, upon what, how it ended', async () => {
    const { id, headers } = await keyOf({ name: 'operator', scopes: ['admin'] });
    const [org] = await test.database.query<{ id: string }>('select id from organizations');
    const calls = async (): Promise<void> => {
      await test.http
        .post('/agents/support-1/diary')
        .set(headers)
        .send({ kind: 'diary_long', content: 'x' })
        .expect(201);
      await test.http.post('/agents/support-1/diary').set(headers).send({ kind: 'nonsense' }).expect(422);
      await test.http.delete('/agents/nobody/diary/3f0a8f0e-6f6b-4a53-9c43-5d1f6d1a7e10').set(headers).expect(404);
      await test.http.get('/jobs').set(headers).expect(200);
      await test.http.post('/jobs/sweep').set(headers).expect(202);
    };
    const found = await rowsOf(calls);
    expect(found.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['POST', '/agents/:id/diary', 201],
      ['POST', '/agents/:id/diary', 422],
      ['DELETE', '/agents/:id/diary/:entry_id', 404],
      ['GET', '/jobs', 200],
      ['POST', '/jobs/:task', 202],
    ]);
    for (const row of found) {
      expect(row).toMatchObject({ org_id: org!.id, key_id: id, key_name: 'operator', at: expect.any(Date) });
    }
    expect(found.map(({ targets }) => targets)).toEqual([
      { id: sha256('support-1') },
      { id: sha256('support-1') },
      { id: sha256('nobody'), entry_id: '3f0a8f0e-6f6b-4a53-9c43-5d1f6d1a7e10' },
      {},
      { task: 'sweep' },
    ]);
  });

  it('has none of calls that take less, and none of those that were refused for their key', async () => {
    const { headers } = await keyOf({ name: 'reader', scopes: ['read', 'engine'] });
    const calls = async (): Promise<void> => {
      await test.http.get('/agents').set(headers).expect(200);
      await test.http.get('/events').set(root).expect(200);
      await test.http.post('/turns').set(headers).send(aTurn()).expect(202);
      expectProblem(await test.http.get('/jobs').set(headers), 403, 'auth.scope_missing');
      expectProblem(await test.http.get('/jobs'), 401, 'auth.required');
    };
    expect(await rowsOf(calls)).toEqual([]);
  });

  it('names ADMIN_API_KEY as such, and holds no key that was made', async () => {
    const found = await rowsOf(() => keyOf({ name: 'made', scopes: ['read'] }));
    expect(found).toMatchObject([{ key_id: 'admin', key_name: 'ADMIN_API_KEY', route: '/api-keys', status: 201 }]);
    expect(JSON.stringify(found)).not.toContain('al_');
  });

  it('comes first: a change that cannot be recorded is not made', async () => {
    await test.database.query('alter table audit_log rename to audit_log_away');
    const content = 'Never written.';
    try {
      const answer = await test.http.post('/agents/support-1/diary').set(root).send({ kind: 'diary_long', content });
      expectProblem(answer, 500, 'internal.error');
      await test.http.get('/jobs').set(root).expect(200);
    } finally {
      await test.database.query('alter table audit_log_away rename to audit_log');
    }
    const { body } = await test.http.get('/agents/support-1/diary').set(root).expect(200);
    expect(JSON.stringify(body)).not.toContain(content);
  });

  it('is swept after its retention', async () => {
    await test.database.query(`update audit_log set at = $1 where route = '/jobs'`, [
      new Date(Date.now() - 366 * 86_400_000),
    ]);
    await test.http.post('/jobs/sweep').set(root).expect(202);
    await eventually(rows, (left) => left.every(({ at }) => at.getTime() > Date.now() - 86_400_000));
    expect((await rows()).length).toBeGreaterThan(0);
  });
});

describe('the last use of a key', () => {
  it('is known to the minute, and costs one write a minute', async () => {
    const { id, headers } = await keyOf({ name: 'used', scopes: ['read'] });
    const shown = async (): Promise<string | null> => {
      const { body } = await test.http.get('/api-keys?limit=200').set(root).expect(200);
      return (body.items as { id: string; last_used_at: string | null }[]).find((key) => key.id === id)!.last_used_at;
    };
    expect(await shown()).toBeNull();
    const before = Date.now();
    await Promise.all(Array.from({ length: 20 }, () => test.http.get('/agents').set(headers).expect(200)));
    const first = await eventually(shown, (at) => at !== null);
    expect(Date.parse(first!)).toBeGreaterThanOrEqual(before);
    await test.http.get('/agents').set(headers).expect(200);
    expect(await shown()).toBe(first);
    await test.database.query('update api_keys set last_used_at = $2 where id = $1', [id, new Date(before - 61_000)]);
    await test.http.get('/agents').set(headers).expect(200);
    await eventually(shown, (at) => Date.parse(at!) >= before);
  });
});
