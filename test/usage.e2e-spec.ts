import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { aPlanRequest, callTool, register, remember } from './support/requests.js';
import { expectProblem } from './support/problem.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aTurn } from './support/turns.js';

let test: TestApp;
let model: ScriptedModel;

beforeAll(async () => {
  model = await ScriptedModel.start();
  test = await startApp({ model, config: { learning: { counterparty: { enabled: false } } } });
});

afterAll(async () => {
  await test.close();
  await model.close();
});

describe('GET /usage', () => {
  it('counts every model call by day, agent, worker and provider', async () => {
    const turns = ['spender', 'spender', 'other'].map((agent) => aTurn({ agent }));
    for (const turn of turns) await test.http.post('/turns').send(turn).expect(202);
    for (const turn of turns) await test.reflected(turn.turn_id);
    const today = new Date().toISOString().slice(0, 10);
    const item = { day: today, worker: 'persist_decider', provider: 'default' };
    const { body } = (await test.http.get('/usage?agent=spender').expect(200)) as {
      body: { items: { input_tokens: number }[] };
    };
    expect(body).toMatchObject({ items: [{ ...item, agent: 'spender', calls: 2 }], total: 1, next_cursor: null });
    expect(body.items[0]!.input_tokens).toBeGreaterThan(0);
    expect((await test.http.get(`/usage?from=${today}&to=${today}`).expect(200)).body).toMatchObject({ total: 2 });
    expect((await test.http.get('/usage?to=2026-01-01').expect(200)).body).toMatchObject({ items: [], total: 0 });
  });

  it.each(['from=yesterday', 'to=2026-02-30', 'from=2026-01-01T00:00:00Z', 'limit=0'])('refuses ?%s', async (query) => {
    expectProblem(await test.http.get(`/usage?${query}`), 422, 'request.invalid');
  });

  it('knows no agent that is not there', async () => {
    expectProblem(await test.http.get('/usage?agent=nobody'), 404, 'agent.not_found');
  });
});

describe('a budget that is spent', () => {
  it('ends the calls of live turns as well: blocks and tools go on without a model', async () => {
    await register(test.http, 'thrifty');
    await remember(test.http, 'thrifty', 'Ana prefers short summaries.');
    await test.http
      .post('/turns')
      .send(aTurn({ agent: 'thrifty', task_description: 'Summarise for Ana', interactions: [] }))
      .expect(202);
    const ask = async (): Promise<{ memory: string; tool: string }> => {
      const request = aPlanRequest({ task_description: 'Summarise it for Ana' });
      const { body } = await test.http.post('/agents/thrifty/plan-context').send(request).expect(200);
      const { blocks } = body as { blocks: { key: string; reason: string }[] };
      const { output } = await callTool(test.http, 'thrifty', 'query_episodes', { query: 'summarise' });
      return { memory: blocks.find(({ key }) => key === 'personal_memory')!.reason, tool: output };
    };
    const summary = '- Summarised once.';
    model.reply('memory_filter', '[1]').reply('summarize_episodes', summary);
    expect(await ask()).toMatchObject({ memory: 'selected', tool: expect.stringContaining(summary) });
    await test.database.query(`update agents set daily_token_budget = 1 where handle = 'thrifty'`);
    const before = model.requests.length;
    const without = await ask();
    expect(without.memory).toBe('model_unavailable');
    expect(without.tool).toContain('Summarise for Ana');
    expect(without.tool).not.toContain(summary);
    expect(model.requests).toHaveLength(before);
  });
});
