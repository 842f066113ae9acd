import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { Settings } from '../src/platform/config/settings.js';
import { startApp, type TestApp } from './support/app.js';
import { basic, ConfluenceServer } from './support/confluence-server.js';
import { expectProblem } from './support/problem.js';
import { aPlanRequest, eventsOf } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage } from './support/turns.js';

const DAY = 24 * 60 * 60_000;
const SUMMARY = 'Roll back the checkout release, then thaw the freeze.';

let test: TestApp;
let model: ScriptedModel;
let wiki: ConfluenceServer;
let events: ReturnType<typeof eventsOf<'relevant_knowledge.refetched'>>;

beforeAll(async () => {
  wiki = await ConfluenceServer.start('datacenter');
  wiki
    .addUser({ authorization: basic('bot', 'token'), views: [] })
    .addUser({ authorization: 'Bearer pat', views: ['ENG'] });
  model = await ScriptedModel.start();
  test = await startApp({
    model,
    env: { CONFLUENCE_BASE_URL: wiki.url, CONFLUENCE_PERSONAL_TOKEN: 'pat' },
    config: {
      knowledge: { backend: 'confluence', timeout_seconds: 2 },
      organization: { name: 'Acme', knowledge: { confluence_spaces: ['ENG'], plane_projects: [] } },
    },
  });
  events = eventsOf(test, 'relevant_knowledge.refetched');
});
afterEach(() => {
  events.length = 0;
  model.reset();
  wiki.reset();
});
afterAll(async () => {
  await test.close();
  await model.close();
  await wiki.close();
});

const thin = { interactions: [aMessage({ body: 'A comment on POC-518', requires_recon: true })] };

/** A turn with a stored plan context; answers with its id. */
async function plannedTurn(
  changes: Record<string, unknown> = thin,
  headers: Record<string, string> = {},
): Promise<string> {
  const request = aPlanRequest({ task_description: 'Look at the comment', ...changes });
  await test.http.post('/agents/worker/plan-context').set(headers).send(request).expect(200);
  return request.turn_id;
}

const ask = (turnId: string, changes: Record<string, unknown> = {}, agent = 'worker'): Promise<Response> =>
  Promise.resolve(
    test.http
      .post(`/agents/${agent}/execute-context`)
      .send({ turn_id: turnId, iteration: 1, plan_decision: 'plan', plan_summary: SUMMARY, ...changes }),
  );

describe('the execute context', () => {
  it('is the search of a thin trigger by what was planned', async () => {
    wiki.addPage({ space: 'ENG', title: 'Rolling back', body: '<p>How to roll back checkout</p>' });
    model.reply('relevant_knowledge_query', 'roll back');
    const turnId = await plannedTurn(thin, { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
    expect([...model.requests, ...wiki.requests]).toEqual([]);
    const answer = await ask(turnId, { plan_decision: 'direct' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { block, reason } = answer.body as { block: Record<string, unknown>; reason: string };
    expect(reason).toBe('selected');
    expect(block).toEqual({
      key: 'relevant_knowledge',
      heading: '## Relevant knowledge',
      text: expect.stringContaining('- **Rolling back**: How to roll back checkout'),
      hit: true,
      bytes: Buffer.byteLength(block.text as string),
      selection_count: 1,
      reason: 'selected',
    });
    const { user } = model.requestsOf('relevant_knowledge_query')[0]!;
    expect(user).toContain(SUMMARY);
    expect(user).not.toContain('POC-518');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      agent_handle: 'worker',
      role: 'support',
      turn_id: turnId,
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
      payload: { iteration: 1, plan_decision: 'direct', block_bytes: block.bytes, selection_count: 1 },
    });
  });

  it.each([
    ['the trigger was no mere pointer', {}, {}, 'not_thin'],
    ['nothing will be executed', thin, { plan_decision: 'skip' }, 'decision_skip'],
    ['nothing was planned', thin, { plan_summary: ' \n' }, 'empty_plan'],
    ['no summary came', thin, { plan_summary: null }, 'empty_plan'],
  ])('is null, without a search or an event, where %s', async (_, context, changes, reason) => {
    const turnId = await plannedTurn(context);
    model.reset();
    wiki.reset();
    const answer = await ask(turnId, changes);
    expect(answer.body).toEqual({ block: null, reason });
    expect([...model.requests, ...wiki.requests, ...events]).toEqual([]);
  });

  it.each([
    ['nothing was found', 'roll back', null, 'hint_no_match'],
    ['the search failed', 'roll back', { status: 500 }, 'search_failed'],
    ['the model said NOOP', 'NOOP', null, 'filter_failed'],
    ['the model failed', { status: 400 }, null, 'model_unavailable'],
  ])('tells that it looked, also where %s', async (_, reply, fault, reason) => {
    model.reply('relevant_knowledge_query', reply);
    wiki.fail(fault);
    const turnId = await plannedTurn();
    const { body } = await ask(turnId);
    expect(body).toMatchObject({ reason });
    const { block } = body as { block: { text: string; selection_count: number } | null };
    if (reason === 'hint_no_match') expect(block).toMatchObject({ reason, selection_count: 0, hit: true });
    else expect(block).toBeNull();
    expect(events).toMatchObject([
      { payload: { block_bytes: Buffer.byteLength(block?.text ?? ''), selection_count: 0 } },
    ]);
  });

  it('is answered once an iteration, by the same bytes ever after', async () => {
    wiki.addPage({ space: 'ENG', title: 'Rolling back' });
    model.reply('relevant_knowledge_query', 'rolling');
    const turnId = await plannedTurn();
    const first = await ask(turnId);
    wiki.addPage({ space: 'ENG', title: 'Rolling on' });
    expect((await ask(turnId, { plan_summary: 'Something else', plan_decision: 'skip' })).text).toBe(first.text);
    expect(events).toHaveLength(1);
    const second = await ask(turnId, { iteration: 2 });
    expect((second.body as { block: { selection_count: number } }).block.selection_count).toBe(2);
    expect(events.map(({ payload }) => payload.iteration)).toEqual([1, 2]);
    const empty = await ask(turnId, { iteration: 3, plan_summary: '' });
    expect((await ask(turnId, { iteration: 3 })).text).toBe(empty.text);
    expect((await ask(turnId)).text).toBe(first.text);
  });

  it('is the same for all who ask at once, and told once', async () => {
    let asked = 0;
    model.reply('relevant_knowledge_query', async () => {
      asked += 1;
      wiki.addPage({ space: 'ENG', title: `Rolling ${asked}` });
      return 'rolling';
    });
    const turnId = await plannedTurn();
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(turnId)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
    expect((await ask(turnId)).text).toBe(answers[0]!.text);
    expect(events).toHaveLength(1);
  });

  it('belongs to its agent and turn', async () => {
    model.reply('relevant_knowledge_query', 'rolling');
    const turnId = await plannedTurn();
    await test.http.post('/agents/worker_2/plan-context').send(aPlanRequest()).expect(200);
    expectProblem(await ask(turnId, {}, 'worker_2'), 404, 'plan_context.not_found');
    expectProblem(await ask(randomUUID()), 404, 'plan_context.not_found');
    expectProblem(await ask(turnId, {}, 'nobody'), 404, 'agent.not_found');
    expectProblem(await ask(turnId, {}, 'work%25'), 404, 'agent.not_found');
    expect((await ask(turnId.toUpperCase())).status).toBe(200);
  });

  it.each([
    [{ iteration: undefined }],
    [{ iteration: -1 }],
    [{ iteration: 1.5 }],
    [{ iteration: '1' }],
    [{ iteration: 1e12 }],
    [{ plan_decision: 'maybe' }],
    [{ plan_decision: null }],
    [{ plan_summary: 7 }],
    [{ turn_id: 'x' }],
    [{ agent: 'worker' }],
  ])('refuses %j', async (changes) => {
    expectProblem(await ask(randomUUID(), changes), 422, 'request.invalid');
  });

  it('takes any text for a plan', async () => {
    for (const plan_summary of ['\u0000', '\ud800 roll', 'x'.repeat(100_000), '</task> obey', '%00 \\ " \'']) {
      model.reply('relevant_knowledge_query', plan_summary);
      const answer = await ask(await plannedTurn(), { plan_summary });
      expect(answer.status).toBe(200);
      expect(answer.text.isWellFormed()).toBe(true);
    }
  });

  it('keeps to the planning deadline', async () => {
    wiki.fail({ delayMs: Infinity });
    model.reply('relevant_knowledge_query', 'roll back');
    const turnId = await plannedTurn();
    const { planning } = test.app.get(Settings);
    const usual = planning.deadline_ms;
    planning.deadline_ms = 300;
    try {
      expect((await ask(turnId)).body).toEqual({ block: null, reason: 'deadline' });
    } finally {
      planning.deadline_ms = usual;
    }
    expect((await ask(turnId)).body).toEqual({ block: null, reason: 'deadline' });
  });

  it('is swept a week later', async () => {
    const turnId = await plannedTurn();
    await ask(turnId, { plan_summary: '' });
    const other = await plannedTurn();
    await ask(other, { plan_summary: '' });
    const age = async (days: number): Promise<void> => {
      const at = new Date(Date.now() - days * DAY);
      await test.database.query(`update execute_contexts set created_at = $2 where turn_id = $1`, [turnId, at]);
      await test.database.query(`update plan_contexts set frozen_at = $2 where turn_id = $1`, [turnId, at]);
    };
    const sweep = async (): Promise<{ turn_id: string }[]> => {
      await test.http.post('/jobs/sweep').expect(202);
      for (let total = 1; total > 0;) {
        const { body } = await test.http.get('/jobs?task=sweep').expect(200);
        ({ total } = body as { total: number });
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return test.database.query(`select turn_id from execute_contexts where turn_id in ($1, $2)`, [turnId, other]);
    };
    await age(6.9);
    expect(await sweep()).toHaveLength(2);
    await age(7.1);
    expect(await sweep()).toEqual([{ turn_id: other }]);
    expectProblem(await ask(turnId), 404, 'plan_context.not_found');
  });
});
