import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Agents } from '../src/core/organization/agents.js';
import { Organizations } from '../src/core/organization/organizations.js';
import type { RequestWithPrincipal } from '../src/platform/auth/principal.js';
import { createFastifyAdapter } from '../src/platform/http/fastify-adapter.js';
import { ProblemFilter } from '../src/platform/http/problem.filter.js';
import { createValidationPipe } from '../src/platform/http/validation.pipe.js';
import { Jobs } from '../src/platform/jobs/jobs.js';
import { JobsController } from '../src/views/jobs/jobs.controller.js';
import { type TestDatabase, testDatabase } from './support/database.js';
import { createJobApp } from './support/job-app.js';

const org = randomUUID();
const other = randomUUID();
let db: TestDatabase;
let app: NestFastifyApplication;

beforeAll(async () => {
  db = await testDatabase();
  const handlers = [
    { task: 'plain', run: async () => ({ status: 'dead', error: 'refused' }) as const, onDemand: true },
    { task: 'closed', run: async () => undefined },
  ];
  const module = await createJobApp({
    address: db.address,
    handlers,
    controllers: [JobsController],
    providers: [Agents, Organizations],
  });
  app = module.createNestApplication<NestFastifyApplication>(createFastifyAdapter(), { bodyParser: false });
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request: RequestWithPrincipal & { headers: Record<string, unknown> }) => {
      request.principal = {
        orgId: String(request.headers['x-org']),
        scopes: ['admin'],
        keyId: null,
        keyName: null,
        root: false,
      };
    });
  await app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await app.close();
  await db.close();
});

beforeEach(() => db.reset());

interface Answer {
  status: number;
  body: Record<string, unknown> & { items: Record<string, unknown>[] };
}

async function send(method: 'GET' | 'POST', url: string, payload?: object, orgId = org): Promise<Answer> {
  const response = await fetch(`${await app.getUrl()}${url}`, {
    method,
    body: payload && JSON.stringify(payload),
    headers: { 'x-org': orgId, ...(payload && { 'content-type': 'application/json' }) },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

describe('jobs over HTTP', () => {
  it('are started, listed and retried, each in its organisation', async () => {
    const started = await send('POST', '/jobs/plain');
    expect(started).toEqual({ status: 202, body: { id: expect.stringMatching(/^\d+$/) } });
    let dead: Answer;
    do dead = await send('GET', '/jobs?status=dead&task=plain');
    while (dead.body.items.length === 0);
    expect(dead.body).toEqual({
      items: [
        {
          id: expect.any(String),
          task: 'plain',
          agent: null,
          turn_id: null,
          status: 'dead',
          attempts: 1,
          run_at: expect.stringMatching(/Z$/),
          last_error: 'refused',
        },
      ],
      next_cursor: null,
      total: 1,
      oldest_pending_seconds: 0,
    });
    const id = String(dead.body.items[0]!.id);
    expect((await send('GET', '/jobs', undefined, other)).body.items).toEqual([]);
    expect(await send('POST', `/jobs/${id}/retry`, undefined, other)).toMatchObject({
      status: 404,
      body: { code: 'job.not_found' },
    });
    expect(await send('POST', `/jobs/${id}/retry`, {})).toMatchObject({ status: 202, body: { id, task: 'plain' } });
  });

  it('that wait cannot be retried', async () => {
    const id = await app.get(Jobs).enqueue({
      task: 'closed',
      key: 'k',
      payload: { org_id: org },
      runAt: new Date(Date.now() + 60_000),
    });
    expect(await send('POST', `/jobs/${id}/retry`)).toMatchObject({ status: 409, body: { code: 'job.not_dead' } });
  });

  it.each([
    ['POST', '/jobs/closed', 404, 'job.unknown_task'],
    ['POST', '/jobs/nothing', 404, 'job.unknown_task'],
    ['POST', '/jobs/toString', 404, 'job.unknown_task'],
    ['POST', '/jobs/x/retry', 404, 'job.not_found'],
    ['POST', '/jobs/99999999999999999999/retry', 404, 'job.not_found'],
    ['GET', '/jobs?status=asleep', 422, 'request.invalid'],
    ['GET', '/jobs?limit=0', 422, 'request.invalid'],
    ['GET', '/jobs?cursor=x', 422, 'request.invalid'],
    ['GET', '/jobs?tasks=x', 422, 'request.invalid'],
  ] as const)('%s %s is %d', async (method, url, status, code) => {
    expect(await send(method, url)).toMatchObject({ status, body: { code } });
  });

  it.each([[{ agent: 'a' }], [[1]]])('a body that the job does not know is refused: %j', async (body) => {
    expect(await send('POST', '/jobs/plain', body)).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  });
});
