import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { startApp, type TestApp } from './support/app.js';
import { expectNoFault, expectProblem } from './support/problem.js';
import { addressOf, servedRoutes, type Route } from './support/routes.js';
import { aTurn } from './support/turns.js';

const ROOT = 'root-key';
const OPEN = ['/health/live', '/health/ready', '/openapi.json', '/docs'];

interface ApiKey {
  id: string;
  name: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  key: string;
}

let test: TestApp;
let routes: Route[];
beforeAll(async () => {
  test = await startApp({ env: { ADMIN_API_KEY: ROOT } });
  routes = (await servedRoutes(test.http)).filter(({ path }) => !OPEN.includes(path));
});
afterAll(() => test.close());

const bearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });

async function createKey(draft: object, as = ROOT): Promise<ApiKey> {
  const response = await test.http.post('/api-keys').set(bearer(as)).send(draft);
  expect(response.status).toBe(201);
  return response.body as ApiKey;
}

function ask(
  { method, path, ...route }: Route,
  headers: Record<string, string> = {},
): ReturnType<typeof test.http.get> {
  return test.http[method](addressOf({ method, path, ...route })).set(headers);
}

/** The scope that the contract asks for. */
function scopeOf({ method, path }: Route): 'engine' | 'read' | 'admin' {
  const engine = /^\/(turns|slots|roles|agents\/\{id\}\/(plan-context|execute-context|tools|onboarding\/lease))(\/|$)/;
  if (engine.test(path)) return 'engine';
  // Who may read the events may have a browser read them.
  if (path === '/events/ticket') return 'read';
  const alone = /^\/(quarantine|api-keys|organization|jobs|agents\/\{id\}\/export)(\/|$)/;
  return method === 'get' && !alone.test(path) ? 'read' : 'admin';
}

describe('without a key', () => {
  it('every route is 401, whatever the body', async () => {
    expect(routes.length).toBeGreaterThan(25);
    const bodies: [type: string, body: string][] = [
      ['application/json', '{}'],
      ['application/json', '{"not json'],
      ['application/json', '['.repeat(1_000)],
      ['text/plain', 'text'],
    ];
    for (const route of routes) {
      expectProblem(await ask(route), 401, 'auth.required');
      if (route.method === 'get') continue;
      for (const [type, body] of bodies) {
        expectProblem(await ask(route).set('content-type', type).send(body), 401, 'auth.required');
      }
    }
  });

  it('a body is neither waited for nor measured', async () => {
    const { port } = test.app.getHttpServer().address() as AddressInfo;
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          'POST /turns HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n{',
        ),
      );
      socket.setTimeout(5_000, () => socket.destroy(new Error('it waited for the body')));
      socket.on('error', reject).once('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
    });
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(answer).toContain('"code":"auth.required"');
  });

  it('what does not exist is not told from what does', async () => {
    for (const path of ['/nothing', '/agents/nobody/memory', '/metrics', '/health', '/docs-json', '/docs-yaml']) {
      expectProblem(await test.http.get(path), 401, 'auth.required');
      expectProblem(await test.http.post(path).send({}), 401, 'auth.required');
    }
    expect((await test.http.head('/agents')).status).toBe(401);
    expectProblem(await test.http.options('/agents'), 401, 'auth.required');
  });

  it.each(OPEN)('%s is open', async (path) => {
    await test.http.get(path).redirects(1).expect(200);
  });

  it.each(['/docs/../agents', '/docs/%2e%2e/agents', '//agents', '/openapi.json/../agents', '/docs;/../agents'])(
    '%s opens nothing',
    async (path) => {
      const response = await test.http.get(path);
      expectNoFault(response);
      expect([401, 404]).toContain(response.status);
    },
  );
});

describe('a wrong key', () => {
  it.each([
    'Bearer wrong',
    `Bearer ${ROOT}x`,
    `Bearer ${ROOT.toUpperCase()}`,
    'Bearer al_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    `Bearer ${'x'.repeat(5_000)}`,
    "Bearer ' or 1=1--",
  ])('is 401: %s', async (authorization) => {
    expectProblem(await test.http.get('/agents').set({ authorization }), 401, /^auth\./);
  });

  it.each(['', 'Bearer', 'Bearer ', ROOT, `Basic ${Buffer.from(`x:${ROOT}`).toString('base64')}`, `Token ${ROOT}`])(
    'in another form than Bearer is 401: %j',
    async (authorization) => {
      expectProblem(await test.http.get('/agents').set({ authorization }), 401, 'auth.required');
    },
  );

  it('is 401 on every route', async () => {
    for (const route of routes) expectProblem(await ask(route, bearer('wrong')), 401, 'auth.invalid_key');
  });

  it('that was right until it expired is 401 on every route', async () => {
    const { id, key } = await createKey({ name: 'past', scopes: ['engine', 'read', 'admin'] });
    await test.database.query(`update api_keys set expires_at = $2 where id = $1`, [id, new Date(Date.now() - 1)]);
    for (const route of routes) expectProblem(await ask(route, bearer(key)), 401, 'auth.invalid_key');
  });

  it('elsewhere than in the header counts for nothing', async () => {
    for (const query of [`key=${ROOT}`, `api_key=${ROOT}`, `access_token=${ROOT}`, `authorization=Bearer%20${ROOT}`]) {
      expectProblem(await test.http.get(`/agents?${query}`).set('x-api-key', ROOT), 401, 'auth.required');
    }
  });
});

describe('a scope', () => {
  it.each(['engine', 'read', 'admin'] as const)(
    '%s opens what the contract says, and is asked before validation',
    async (scope) => {
      const { key } = await createKey({ name: scope, scopes: [scope] });
      for (const route of routes) {
        const needed = scopeOf(route);
        if (scope === needed || scope === 'admin') {
          if (/\/stream$/.test(route.path)) continue;
          const response = await ask(route, bearer(key)).send(route.takesBody ? { nonsense: 1 } : undefined);
          expectNoFault(response);
          expect([route, response.status]).not.toEqual([route, 401]);
          expect([route, response.status]).not.toEqual([route, 403]);
        } else {
          const response = await ask(route, bearer(key)).send(route.takesBody ? { nonsense: 1 } : undefined);
          expect([route, response.status]).toEqual([route, 403]);
          expect(expectProblem(response, 403, 'auth.scope_missing').detail).toContain(needed);
        }
      }
    },
  );

  it('adds up with others', async () => {
    const { key } = await createKey({ name: 'both', scopes: ['engine', 'read'] });
    await test.http.post('/turns').set(bearer(key)).send(aTurn()).expect(202);
    await test.http.get('/agents').set(bearer(key)).expect(200);
    expectProblem(await test.http.get('/organization').set(bearer(key)), 403, 'auth.scope_missing');
  });
});

describe('an API key', () => {
  it('is shown once, listed without it, and stored as a hash', async () => {
    const made = await createKey({ name: 'shown once', scopes: ['read'] });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'shown once',
      scopes: ['read'],
      created_at: expect.any(String),
      expires_at: null,
      last_used_at: null,
      key: expect.stringMatching(/^al_[\w-]{43}$/),
    });
    const { key, ...shown } = made;
    const list = await test.http.get('/api-keys').set(bearer(ROOT)).expect(200);
    expect((list.body as { items: unknown[] }).items).toContainEqual(shown);
    expect(list.text).not.toContain(key);
    const rows = JSON.stringify(await test.database.query('select * from api_keys'));
    expect(rows).toContain('shown once');
    expect(rows).not.toContain(key);
  });

  it('that is revoked is 401 at once, and gone from the list', async () => {
    const { id, key } = await createKey({ name: 'revoked', scopes: ['admin'] });
    await test.http.get('/agents').set(bearer(key)).expect(200);
    await test.http.delete(`/api-keys/${id}`).set(bearer(key)).expect(204);
    expectProblem(await test.http.get('/agents').set(bearer(key)), 401, 'auth.invalid_key');
    const { body } = (await test.http.get('/api-keys').set(bearer(ROOT))) as { body: { items: ApiKey[] } };
    expect(body.items.map((item) => item.id)).not.toContain(id);
    expectProblem(await test.http.delete(`/api-keys/${id}`).set(bearer(ROOT)), 404, 'api_key.not_found');
  });

  it('works until it expires', async () => {
    const expiresAt = new Date(Date.now() + 1_200).toISOString();
    const { key, expires_at: shown } = await createKey({ name: 'short', scopes: ['read'], expires_at: expiresAt });
    expect(shown).toBe(expiresAt);
    await test.http.get('/agents').set(bearer(key)).expect(200);
    await new Promise((resolve) => setTimeout(resolve, 1_250));
    expectProblem(await test.http.get('/agents').set(bearer(key)), 401, 'auth.invalid_key');
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: null }],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['root'] }],
    ['scopes', { scopes: ['read', 'read'] }],
    ['scopes', { scopes: 'read' }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['expires_at', { expires_at: '2099-01-01' }],
    ['expires_at', { expires_at: 0 }],
    ['expires_at', { expires_at: -8.64e15 }],
    ['expires_at', { expires_at: true }],
    ['organization', { organization: '' }],
    ['organization', { organization: {} }],
    ['organisation', { organisation: 'typo' }],
  ])('with a wrong %s is refused: %j', async (path, change) => {
    const draft = { name: 'draft', scopes: ['read'], ...change };
    const { errors } = expectProblem(
      await test.http.post('/api-keys').set(bearer(ROOT)).send(draft),
      422,
      'request.invalid',
    );
    expect(errors!.map((error) => error.path)).toEqual([path]);
  });

  it('of another organisation is made by ADMIN_API_KEY alone', async () => {
    const other = await createKey({ name: 'other', scopes: ['admin'], organization: 'Other' });
    const document = await test.http.get('/organization').set(bearer(other.key)).expect(200);
    expect((document.body as { name: string }).name).toBe('Other');
    await createKey({ name: 'of our own', scopes: ['read'] }, other.key);
    for (const organization of ['default', 'Other', 'Third']) {
      const draft = { name: 'x', scopes: ['admin'], organization };
      expectProblem(await test.http.post('/api-keys').set(bearer(other.key)).send(draft), 403, 'auth.scope_missing');
    }
    expect(await test.database.query(`select 1 from organizations where name = 'Third'`)).toEqual([]);

    const own = await createKey({ name: 'own', scopes: ['read'] });
    expectProblem(await test.http.delete(`/api-keys/${own.id}`).set(bearer(other.key)), 404, 'api_key.not_found');
    await test.http.get('/agents').set(bearer(own.key)).expect(200);
    const { body } = (await test.http.get('/api-keys').set(bearer(other.key))) as { body: { items: ApiKey[] } };
    expect(body.items.map((item) => item.name).sort()).toEqual(['of our own', 'other']);
  });
});

describe('an open service', () => {
  let open: TestApp;
  beforeAll(async () => {
    open = await startApp({ keepData: true, config: { rate_limit: { requests_per_minute: 3 } } });
  });
  afterAll(() => open.close());

  it('does what it is asked without a key, without a limit, but not with a wrong key', async () => {
    for (let i = 0; i < 8; i++) await open.http.get('/agents').expect(200);
    await open.http.get('/organization').expect(200);
    expectProblem(await open.http.get('/agents').set(bearer('wrong')), 401, 'auth.invalid_key');
    expectProblem(await open.http.post('/turns').set(bearer('wrong')).send('{'), 401, 'auth.invalid_key');
    expectProblem(await open.http.get('/agents').set('authorization', ''), 401, 'auth.required');
  });

  it.each([
    ['evil.example'],
    ['evil.example:3000'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil.example'],
    ['192.168.0.7'],
    ['[::2]:3000'],
    ['user@localhost'],
    [''],
  ])('refuses what a browser was misled to send here under the name %j', async (host) => {
    for (const path of ['/agents', '/nowhere']) {
      expectProblem(await open.http.get(path).set({ host }), 403, 'auth.foreign_host');
    }
    expectProblem(await open.http.post('/turns').set({ host }).send({}), 403, 'auth.foreign_host');
    await open.http.get('/health/ready').set({ host }).expect(200);
  });

  it.each(['https://evil.example', 'http://localhost.evil.example:3000', 'null', 'nonsense', 'file://', ''])(
    'refuses what a page of %j sends',
    async (origin) => {
      expectProblem(await open.http.post('/turns').set({ origin }).send({}), 403, 'auth.foreign_host');
      expectProblem(await open.http.get('/agents').set({ origin }), 403, 'auth.foreign_host');
    },
  );

  it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.8.9.1:3000', '[::1]', '[::1]:3000'])(
    'answers what is sent to %s, also by a page from there',
    async (host) => {
      await open.http.get('/agents').set({ host }).expect(200);
      await open.http
        .get('/agents')
        .set({ host, origin: `http://${host}` })
        .expect(200);
    },
  );

  it('answers a key under any name', async () => {
    const { body } = (await open.http.post('/api-keys').send({ name: 'named', scopes: ['read'] })) as { body: ApiKey };
    await open.http.get('/agents').set(bearer(body.key)).set({ host: 'memory.example' }).expect(200);
  });

  it('holds each key to its scopes and its rate', async () => {
    const { body: one } = (await open.http.post('/api-keys').send({ name: '1', scopes: ['read'] })) as { body: ApiKey };
    const { body: two } = (await open.http.post('/api-keys').send({ name: '2', scopes: ['read'] })) as { body: ApiKey };
    const answers: Response[] = [];
    for (let i = 0; i < 5; i++) answers.push(await open.http.get('/agents').set(bearer(one.key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expectProblem(answers[3]!, 429, 'rate.limited');
    const seconds = Number(answers[3]!.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    // Over all routes, and of this key alone.
    expectProblem(await open.http.get('/turns/x').set(bearer(one.key)), 429, 'rate.limited');
    expectProblem(await open.http.get('/organization').set(bearer(two.key)), 403, 'auth.scope_missing');
    await open.http.get('/agents').expect(200);
  });
});
