import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseConnection } from '../src/platform/database/connection.js';
import { Database } from '../src/platform/database/database.js';
import { startApp, type AppOptions, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { ScriptedModel } from './support/scripted-model.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options: AppOptions): Promise<TestApp> {
  const test = await startApp(options);
  closing.push(() => test.close());
  return test;
}

describe('/health/live', () => {
  it('answers as long as the process runs', async () => {
    const { http, database } = await start({});
    jest.spyOn(database, 'query').mockRejectedValue(new Error('gone'));
    expect((await http.get('/health/live').expect(200)).body).toEqual({ status: 'live' });
    jest.restoreAllMocks();
  });
});

describe('/health/ready', () => {
  it('says that no model is configured, and what that means', async () => {
    const { http, app } = await start({});
    expect((await http.get('/health/ready').expect(200)).body).toEqual({
      status: 'ready',
      database: app.get(DatabaseConnection).mode,
      hypertable: app.get(DatabaseConnection).hypertable,
      models: [],
      model_note: expect.stringContaining('no_model'),
      embedding_model: expect.stringMatching(/^hashing/),
    });
  });

  it('names the models that are configured, asks none of them and shows no key', async () => {
    const model = await ScriptedModel.start();
    closing.push(() => model.close());
    const { http } = await start({ model, config: { embeddings: { provider: 'none' } } });
    const response = await http.get('/health/ready').expect(200);
    expect(response.body).toMatchObject({ models: ['default'], model_note: null, embedding_model: null });
    expect(response.text).not.toContain(model.anthropicUrl);
    expect(model.requests).toEqual([]);
  });

  it('is 503 while the database fails or does not answer, and 200 again after', async () => {
    const { http, app } = await start({});
    const query = jest.spyOn(app.get(Database), 'query');
    query.mockRejectedValue(new Error('connect ECONNREFUSED 10.0.0.1:5432'));
    expect(JSON.stringify(expectProblem(await http.get('/health/ready'), 503, 'health.not_ready'))).not.toContain(
      '10.0',
    );
    query.mockReturnValue(new Promise(() => undefined));
    expectProblem(await http.get('/health/ready'), 503, 'health.not_ready');
    jest.restoreAllMocks();
    await http.get('/health/ready').expect(200);
  });
});
