import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { aPlanRequest, callTool, memoriesOf, register, remember } from './support/requests.js';
import { aMessage, aTurn } from './support/turns.js';

describe('without a model', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startApp();
    await register(test.http, 'ann');
    await remember(test.http, 'ann', 'Alice prefers short answers.');
  });

  afterAll(() => test.close());

  it('the service is ready and says so', async () => {
    const { body } = await test.http.get('/health/ready').expect(200);
    expect(body).toMatchObject({ models: [], model_note: expect.stringContaining('no model is configured') });
  });

  it('a turn is stored and searched; its reflection ends without one', async () => {
    const turn = aTurn({ agent: 'ann', interactions: [aMessage({ body: 'Refund the zebra order' })] });
    await test.http.post('/turns').send(turn).expect(202);
    const { reflection } = await test.reflected(turn.turn_id);
    expect(reflection).toEqual({
      status: 'done',
      reason: null,
      workers: expect.arrayContaining([
        { worker: 'persist_decider', part: '', status: 'skipped', reason: 'no_model', attempts: 0, error: null },
      ]),
    });
    const { body } = await test.http.get('/agents/ann/episodes?q=zebra').expect(200);
    expect(body).toMatchObject({ items: [{ turn_id: turn.turn_id }] });
    expect((await memoriesOf(test.http, 'ann', '?q=short')).map(({ content }) => content)).toContain(
      'Alice prefers short answers.',
    );
    const answer = await callTool(test.http, 'ann', 'query_episodes', { query: 'zebra' });
    expect(answer.output).toContain('zebra');
    expect(answer.data).toMatchObject({ episodes: [{ turn_id: turn.turn_id }] });
  });

  it('those who spoke are known, and how often, though nothing is noted of them', async () => {
    const sender = aMessage({ external_id: 'U-plain', display_name: 'Plain Pat' });
    const turn = aTurn({ agent: 'pat-observer', interactions: [sender, aMessage({ external_id: 'U-other' })] });
    await test.http.post('/turns').send(turn).expect(202);
    const { reflection } = await test.reflected(turn.turn_id);
    expect(reflection.workers.filter(({ worker }) => worker === 'counterparty_profiler')).toEqual([
      { worker: 'counterparty_profiler', part: '', status: 'skipped', reason: 'no_model', attempts: 0, error: null },
    ]);
    const { body } = await test.http.get('/agents/pat-observer/counterparties?q=pat').expect(200);
    expect(body).toMatchObject({ items: [{ subject_name: 'Plain Pat', interaction_count: 1, traits: {} }] });
    const { body: all } = await test.http.get('/agents/pat-observer/counterparties').expect(200);
    expect((all as { total: number }).total).toBe(2);
  });

  it('a plan context lists prior work as it is, and dumps no memories unfiltered', async () => {
    await test.http
      .post('/turns')
      .send(aTurn({ agent: 'ann', interactions: [aMessage({ body: 'Refund the zebra order' })] }))
      .expect(202);
    const request = aPlanRequest({ task_description: 'Refund a zebra for Alice' });
    const { body, text } = await test.http.post('/agents/ann/plan-context').send(request).expect(200);
    const { blocks } = body as { blocks: { key: string; reason: string; text: string }[] };
    expect(blocks.find(({ key }) => key === 'personal_memory')).toMatchObject({
      text: '',
      reason: 'model_unavailable',
    });
    expect(blocks.find(({ key }) => key === 'similar_prior_work')).toMatchObject({
      reason: 'selected',
      text: expect.stringContaining('] Refund the zebra order'),
    });
    expect(text).not.toContain('short answers');
  });

  it('memories are written; to choose from them is an error that spends nothing', async () => {
    const turn = { turn_id: aTurn().turn_id };
    const written = await callTool(test.http, 'ann', 'reflect_and_persist', { content: 'Bob likes tea.' }, turn);
    expect(written.is_error).toBe(false);
    for (let index = 0; index < 4; index++) {
      const answer = await callTool(test.http, 'ann', 'refresh_memory', { context_hint: `hint ${index}` }, turn);
      expect(answer).toMatchObject({ is_error: true, data: { reason: 'model_unavailable' } });
      expect(answer.output).not.toContain('tea');
    }
    const { body } = await test.http.get('/agents/ann/memory').expect(200);
    expect(body).toMatchObject({ totals: { long: 2 }, degraded: [] });
  });
});
