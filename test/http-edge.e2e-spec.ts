import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { startApp, type TestApp } from './support/app.js';
import { expectNoFault, expectProblem } from './support/problem.js';
import { addressOf, servedRoutes, type Route } from './support/routes.js';
import { aMessage, aTurn } from './support/turns.js';

const TWO_MIB = 2 * 1024 * 1024;

let test: TestApp;
let routes: Route[];
beforeAll(async () => {
  test = await startApp();
  routes = await servedRoutes(test.http);
  await test.http
    .post('/turns/batch')
    .send({ turns: [aTurn()], reflect: false })
    .expect(200);
});
afterAll(() => test.close());

/** `body` as it is, not made JSON once more. */
async function post(path: string, body: string, type = 'application/json'): Promise<Response> {
  return test.http
    .post(path)
    .set('content-type', type)
    .serialize((sent: unknown) => sent as string)
    .send(body);
}

/** The answer to bytes that no client library would send. */
function raw(text: string): Promise<string> {
  const { port } = test.app.getHttpServer().address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => (answer += String(chunk)));
    socket.on('error', reject).on('close', () => resolve(answer));
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')));
  });
}

describe('a body that is not JSON', () => {
  it.each([
    '{',
    '{"turns":}',
    '{"turns":[],}',
    "{'turns':[]}",
    '{"turns":[]} x',
    '[',
    '"',
    'nul',
    'undefined',
    'NaN',
    '\u0000',
    '{"a":"\u0000"}',
    '{"a":"\n"}',
    '{"a":"\\u12"}',
    '{"a":"\\x41"}',
    '<turn/>',
    'turn_id=1',
    ' ',
  ])('%j is 400 body.malformed', async (body) => {
    expectProblem(await post('/turns', body), 400, 'body.malformed');
  });

  it.each(['{"__proto__":{"polluted":true}}', '{"plan":{"constructor":{"prototype":{"polluted":true}}}}'])(
    '%s is refused and changes no prototype',
    async (body) => {
      for (const { method, path, takesBody } of routes) {
        if (!takesBody) continue;
        const response = await test.http[method](addressOf({ method, path, takesBody }))
          .set('content-type', 'application/json')
          .serialize((sent: unknown) => sent as string)
          .send(body);
        expectProblem(response, 400, 'body.malformed');
      }
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );
});

describe('a body that is too much', () => {
  const nested = (levels: number, open: string, close: string): string =>
    open.repeat(levels) + '1' + close.repeat(levels);

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('%s nested 65 deep are 400 body.too_deep, 64 deep are judged by their content', async (_, open, close) => {
    expectProblem(await post('/turns', nested(65, open, close)), 400, 'body.too_deep');
    expectProblem(await post('/turns', nested(64, open, close)), 422, 'request.invalid');
  });

  it('is too deep in whichever member the depth is, and however deep it is', async () => {
    const turn = JSON.stringify({ ...aTurn(), extra: 0 });
    expectProblem(
      await post('/turns', turn.replace('"extra":0', `"extra":${nested(64, '[', ']')}`)),
      400,
      'body.too_deep',
    );
    expectProblem(await post('/turns', nested(200_000, '[', ']')), 400, 'body.too_deep');
    expectProblem(await post('/turns', nested(200_000, '{"":', '}')), 400, 'body.too_deep');
  });

  it('is 413 over 2 MiB, not at 2 MiB', async () => {
    const ofBytes = (bytes: number): string => {
      const empty = JSON.stringify(aTurn({ task_description: '' }));
      return JSON.stringify(aTurn({ task_description: 'x'.repeat(bytes - empty.length) }));
    };
    const limit = ofBytes(TWO_MIB);
    expect(limit).toHaveLength(TWO_MIB);
    expect((await post('/turns', limit)).status).toBe(202);
    expectProblem(await post('/turns', ofBytes(TWO_MIB + 1)), 413, 'body.too_large');
  });

  it('is 413 over 2 MiB also where no length was stated', async () => {
    const { port } = test.app.getHttpServer().address() as AddressInfo;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(
        { port, method: 'POST', path: '/turns', headers: { 'content-type': 'application/json' } },
        (response) => resolve(response.resume().statusCode),
      );
      request.on('error', reject);
      request.write('"');
      for (let i = 0; i < 33; i++) request.write('x'.repeat(TWO_MIB / 32));
      request.end('"');
    });
    expect(status).toBe(413);
  });
});

describe('a body of another kind', () => {
  it.each([
    ['application/x-www-form-urlencoded', 'turn_id=1&agent=a'],
    ['text/plain', 'turn'],
    ['text/plain', JSON.stringify(aTurn())],
    ['text/json', JSON.stringify(aTurn())],
    ['application/xml', '<turn/>'],
    ['application/octet-stream', 'turn'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'],
    ['nonsense', '{}'],
  ])('%s is 415', async (type, body) => {
    expectProblem(await post('/turns', body, type), 415, 'body.unsupported_media_type');
    expectProblem(await post('/turns/batch', body, type), 415, 'body.unsupported_media_type');
  });

  it('is 415 where the type is not stated', async () => {
    const answer = await raw(
      'POST /turns HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1.1 415 /);
    expect(answer).toContain('"code":"body.unsupported_media_type"');
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    '%s is JSON',
    async (type) => {
      expect((await post('/turns', JSON.stringify(aTurn()), type)).status).toBe(202);
    },
  );
});

describe('an address', () => {
  it.each(['/', '/turn', '/agents/a/b/c', '/health', '/health/dead', '/api/turns', '/.env', '/docs/../secret'])(
    '%s that leads nowhere is 404',
    async (path) => {
      expectProblem(await test.http.get(path), 404, 'route.not_found');
      expectProblem(await test.http.post(path).send({}), 404, 'route.not_found');
    },
  );

  it('with another method than the route has is 404', async () => {
    expectProblem(await test.http.put('/turns').send({}), 404, 'route.not_found');
    expectProblem(await test.http.get('/turns'), 404, 'route.not_found');
    expectProblem(await test.http.delete('/organization'), 404, 'route.not_found');
    expectProblem(await test.http.options('/turns'), 404, 'route.not_found');
  });

  it.each(['/agents/%zz/memory', '/agents/%/memory', '/agents/%c3%28/memory', '/agents/%ed%a0%80/memory', '/%ff'])(
    '%s that is badly encoded is 400 url.malformed',
    async (path) => {
      expectProblem(await test.http.get(path), 400, 'url.malformed');
    },
  );

  it('with an id that is none names nothing', async () => {
    for (const path of ['/turns/1', '/agents/support-1/episodes/1', '/turns/00000000-0000-4000-8000-000000000000']) {
      expectProblem(await test.http.get(path), 404, /not_found$/);
    }
  });

  it('with a parameter longer than any name is 414', async () => {
    expectProblem(await test.http.get(`/agents/${'a'.repeat(3_000)}/memory`), 414, 'url.too_long');
  });

  it('holds a handle of 128 characters and a query of 5,000, in any script', async () => {
    expectProblem(
      await test.http.get(`/agents/${encodeURIComponent('語'.repeat(128))}/memory`),
      404,
      'agent.not_found',
    );
    await test.http.get(`/agents/support-1/diary?q=${encodeURIComponent('語'.repeat(5_000))}`).expect(200);
  });
});

describe('a message that is not HTTP', () => {
  const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

  it.each([
    ['is no request line', 'nonsense\r\n\r\n', 400, 'request.malformed'],
    ['has a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n', 400, 'request.malformed'],
    [
      'has more headers than fit',
      `GET /agents?q=${'x'.repeat(80_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      431,
      'request.headers_too_large',
    ],
  ])('because it %s is answered with a problem too', async (_, sent, status, code) => {
    const answer = await raw(sent);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/content-type: application\/problem\+json/i);
    expect(bodyOf(answer)).toEqual({
      type: 'about:blank',
      title: expect.any(String),
      status,
      detail: expect.any(String),
      code,
    });
  });
});

describe('a body that is JSON but no object', () => {
  it.each(['', 'null'])('%j is taken for an empty one, on every route that takes a body', async (body) => {
    for (const route of routes.filter(({ takesBody }) => takesBody)) {
      const send = (text: string): Promise<Response> =>
        test.http[route.method](addressOf(route, { id: 'support-1' }))
          .set('content-type', 'application/json')
          .serialize((sent: unknown) => sent as string)
          .send(text);
      const [none, empty] = [await send(body), await send('{}')];
      expect([route, none.status, none.body]).toEqual([route, empty.status, empty.body]);
      expectNoFault(none);
    }
  });

  it.each(['[]', '[[{}]]', '[{}]', '"text"', '""', '1', '0', 'true', 'false'])(
    '%j is 422 on every route that takes a body, and writes nothing',
    async (body) => {
      const before = await test.database.query('select * from organizations');
      for (const route of routes.filter(({ takesBody }) => takesBody)) {
        const response = await test.http[route.method](addressOf(route, { id: 'support-1', name: 'query_episodes' }))
          .set('content-type', 'application/json')
          .serialize((sent: unknown) => sent as string)
          .send(body);
        try {
          expectProblem(response, 422, 'request.invalid');
        } catch (error) {
          throw new Error(`${route.method} ${route.path}`, { cause: error });
        }
      }
      expect(await test.database.query('select * from organizations')).toEqual(before);
    },
  );
});

describe('a field', () => {
  const refused = async (turn: unknown): Promise<string[]> => {
    const { errors } = expectProblem(await test.http.post('/turns').send(turn as object), 422, 'request.invalid');
    return errors!.map(({ path }) => path);
  };

  it('that nobody knows is refused, by its path', async () => {
    expect(await refused(aTurn({ colour: 'red' }))).toEqual(['colour']);
    expect(await refused(aTurn({ plan: { decision: 'plan', sumary: '' } }))).toEqual(['plan.sumary']);
    expect(await refused(aTurn({ interactions: [aMessage(), aMessage({ bodi: '' })] }))).toEqual([
      'interactions.1.bodi',
    ]);
    expectProblem(await test.http.get('/agents?unknown=1'), 422, 'request.invalid');
  });

  it.each([
    ['interactions', [[{}]]],
    ['interactions', [[]]],
    ['interactions', [null]],
    ['interactions', ['text']],
    ['interactions', {}],
    ['interactions', 'text'],
    ['plan', []],
    ['plan', [{ decision: 'plan' }]],
    ['plan', null],
    ['plan', 'plan'],
    ['tool_sequence', [['a']]],
    ['tool_sequence', { 0: 'a' }],
    ['tool_sequence', [null]],
    ['turn_id', 1],
    ['turn_id', {}],
    ['turn_id', ['00000000-0000-4000-8000-000000000000']],
    ['agent', {}],
    ['agent', ['a']],
    ['agent', 1],
    ['role', {}],
    ['task_description', { toString: 'x' }],
    ['iterations', '1'],
    ['iterations', 1.5],
    ['started_at', 0],
    ['started_at', '2026'],
    ['started_at', '2026-02-30T00:00:00Z'],
    ['started_at', '2026-11-02T09:00:00'],
    ['ended_at', '+275760-09-13T00:00:00Z'],
  ])('%s = %j is refused, by its path', async (field, value) => {
    const paths = await refused(aTurn({ [field]: value }));
    expect(paths.every((path) => path === field || path.startsWith(`${field}.`))).toBe(true);
  });

  it('that is named like what every object has is refused or left out', async () => {
    for (const field of ['then', 'toJSON', 'length', 'prototypes', 'id']) {
      expect(await refused({ ...aTurn(), [field]: 'x' })).toEqual([field]);
    }
    for (const field of ['constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']) {
      const turn = aTurn();
      const response = await test.http.post('/turns').send({ ...turn, [field]: 'x' });
      expectNoFault(response);
      if (response.status !== 202) continue;
      const { body } = (await test.http.get(`/turns/${turn.turn_id}`)) as { body: object };
      expect(Object.keys(body)).not.toContain(field);
    }
  });

  it('of a list of turns is judged a turn at a time', async () => {
    const turns = [null, 1, 'x', [], [[{}]], {}, aTurn({ colour: 1 }), aTurn({ started_at: 'x' }), aTurn()];
    const { body } = (await test.http.post('/turns/batch').send({ turns }).expect(200)) as {
      body: { items: { status: string; code?: string }[] };
    };
    expect(body.items.map(({ status }) => status)).toEqual([...Array<string>(8).fill('rejected'), 'accepted']);
    expect(new Set(body.items.slice(0, 8).map(({ code }) => code))).toEqual(new Set(['request.invalid']));
  });
});

describe('text that Postgres cannot store', () => {
  const NUL = '\\u0000';
  const HIGH = '\\ud83d';
  const LOW = '\\ude00';

  it.each([
    ['NUL', NUL],
    ['a high surrogate', HIGH],
    ['a low surrogate', LOW],
    ['swapped surrogates', LOW + HIGH],
  ])('%s is cleaned in a content, a nested field and a batch, and the turn is reflected', async (_, escape) => {
    const json = JSON.stringify(
      aTurn({ task_description: 'a@b', conversation_id: 'c@d', interactions: [aMessage({ body: 'e@f' })] }),
    ).replaceAll('@', escape);
    const response = await post('/turns', json);
    expect(response.status).toBe(202);
    const { turn_id: turnId } = response.body as { turn_id: string };
    await test.reflected(turnId);
    const { body } = (await test.http.get(`/turns/${turnId}`).expect(200)) as { body: Record<string, unknown> };
    expect(body.task_description).toMatch(/^a\ufffd+b$/);
    expect(body.conversation_id).toMatch(/^c\ufffd+d$/);
    expect(body.interactions).toEqual([expect.objectContaining({ body: expect.stringMatching(/^e\ufffd+f$/) })]);

    const diary = await post('/agents/support-1/diary', `{"kind":"diary_long","content":"x${escape}${Math.random()}"}`);
    expect(diary.status).toBe(201);
    expect((diary.body as { content: string }).content).toMatch(/^x\ufffd/);
    const batch = await post('/turns/batch', `{"turns":[${json.replace(turnId, `${turnId}${escape}`)}]}`);
    expect(batch.status).toBe(200);
  });

  it.each([NUL, HIGH, LOW])('%s in a key, a handle or an id is refused or cleaned', async (escape) => {
    expectProblem(await post('/turns', `{"a${escape}":1}`), 422, 'request.invalid');
    expectProblem(
      await post('/turns', JSON.stringify(aTurn()).replace('"turn_id":"', `"turn_id":"${escape}`)),
      422,
      'request.invalid',
    );
    const plan = await post('/turns', JSON.stringify(aTurn()).replace('"decision"', `"decision${escape}"`));
    expectProblem(plan, 422, 'request.invalid');
    const handle = await post('/turns', JSON.stringify(aTurn({ agent: 'a@' })).replace('a@', `a${escape}`));
    expect([202, 422]).toContain(handle.status);
    const key = `{"turn_id":"00000000-0000-4000-8000-000000000000","phase":"plan","arguments":{"q${escape}":"${escape}"}}`;
    const tool = await post('/agents/support-1/tools/query_episodes', key);
    expect(tool.status).toBe(200);
    expect(tool.body).toMatchObject({ is_error: true });
  });

  it('NUL in an address is refused or names nothing, on every route', async () => {
    for (const route of routes) {
      // A stream that is opened does not end.
      if (/\/stream$/.test(route.path)) continue;
      const withNul = addressOf(route, { id: 'a\u0000', name: 'b\u0000', role: 'r\u0000', task: 't\u0000' });
      const response = await test.http[route.method](withNul).send(route.takesBody ? {} : undefined);
      expectNoFault(response);
    }
  });

  it('in a query string is cleaned or refused', async () => {
    for (const text of ['%00', 'a%00b', '%ed%a0%80', '%ff', '%', '%zz', '%f0%9f', encodeURIComponent('\u202e\u200b')]) {
      for (const path of [
        `/agents?role=${text}&unit=${text}`,
        `/agents/support-1/diary?q=${text}`,
        `/agents/support-1/episodes?q=${text}`,
        `/quarantine?agent=${text}`,
        `/jobs?task=${text}`,
        `/agents?cursor=${text}`,
        `/agents?limit=${text}`,
        `/agents?${text}=1`,
      ]) {
        expectNoFault(await test.http.get(path));
      }
    }
  });
});

describe('the security headers', () => {
  const HEADERS = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  };

  it.each(['/agents', '/agents/nobody/memory', '/nothing', '/health/live', '/metrics', '/%zz', '/agents?limit=0'])(
    'stand on the answer of %s',
    async (path) => {
      const { headers } = await test.http.get(path);
      expect(headers).toMatchObject(HEADERS);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; frame-ancestors 'none'/);
    },
  );

  it('stand on refusals of what is no request, and of a body', async () => {
    const refusals = [
      await raw('nonsense\r\n\r\n'),
      await raw(`GET /x HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(90_000)}\r\n\r\n`),
    ];
    for (const text of refusals) {
      for (const [name, value] of Object.entries(HEADERS))
        expect(text.toLowerCase()).toContain(`${name}: ${value.toLowerCase()}\r\n`);
    }
    for (const response of [await post('/turns', '{'), await post('/turns', 'x', 'text/plain')]) {
      expect(response.headers).toMatchObject(HEADERS);
    }
  });

  it('let the page at /docs run its own script, and nobody else frame it', async () => {
    const { headers, text } = await test.http.get('/docs').redirects(1).expect(200);
    const policy = headers['content-security-policy']!;
    expect(policy).toContain("script-src 'self' 'unsafe-inline'");
    expect(policy).toContain("frame-ancestors 'none'");
    for (const [, address] of text.matchAll(/\b(?:src|href)=["']([^"'#]+)/g))
      expect(address).not.toMatch(/^(https?:)?\/\//);
  });
});
