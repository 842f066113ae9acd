import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AppEventType, EventDraft } from '../src/platform/events/app-events.js';
import { EventBus } from '../src/platform/events/event-bus.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { aPlanRequest, eventually, register, remember } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage, aTurn } from './support/turns.js';

const root = { authorization: 'Bearer root-key' };
const model = await ScriptedModel.start();
let test: TestApp;
beforeAll(async () => {
  model.reply('persist_decider', '{"kind":"LONG","content":"Alice prefers short answers."}');
  test = await startApp({
    model,
    env: { ADMIN_API_KEY: 'root-key' },
    config: {
      llm: {
        providers: {
          default: {
            kind: 'anthropic',
            model: 'scripted',
            price_per_million_input: 100_000,
            price_per_million_output: 500_000,
          },
        },
      },
    },
  });
  test.http.set(root);
});
afterAll(async () => {
  await test.close();
  await model.close();
});

const PREFIX = 'agent_learning_';

/** The samples of one metric, by their labels as they are written. */
async function samples(name: string): Promise<Map<string, number>> {
  const { text } = await test.http.get('/metrics').expect(200);
  const found = text.split('\n').flatMap((line) => {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    return match?.[1] === PREFIX + name ? [[match[2] ?? '', Number(match[3])] as const] : [];
  });
  return new Map(found);
}

async function reflectOn(changes: Record<string, unknown> = {}): Promise<void> {
  const turn = aTurn(changes);
  await test.http.post('/turns').send(turn).expect(202);
  await test.reflected(turn.turn_id);
}

describe('GET /metrics', () => {
  it('is in the text format and needs a key with the scope read', async () => {
    const { headers, text } = await test.http.get('/metrics').expect(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const line of text.trim().split('\n')) expect(line).toMatch(/^(#.*|[a-z0-9_]+(\{.*\})? \S+|)$/);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
    expectProblem(await test.http.get('/metrics').set('authorization', ''), 401, 'auth.required');
    const { body } = await test.http.post('/api-keys').send({ name: 'engine', scopes: ['engine'] });
    const engine = `Bearer ${body.key}`;
    expectProblem(await test.http.get('/metrics').set('authorization', engine), 403, 'auth.scope_missing');
  });

  it('counts reflection, model calls, tokens and cost by worker', async () => {
    await reflectOn();
    await reflectOn({ review_outcome: 'self_iterate' });
    await reflectOn({ plan: { decision: 'skip', summary: 'nothing to do' } });
    const decider = 'worker="persist_decider"';
    const ends = await eventually(
      () => samples('reflection_worker_ends_total'),
      (found) => found.size >= 2,
    );
    expect(ends.get(`${decider},outcome="done",reason="none"`)).toBe(1);
    expect(ends.get(`${decider},outcome="skipped",reason="non_terminal"`)).toBe(1);
    expect((await samples('reflection_worker_seconds_count')).get(`${decider},outcome="done"`)).toBe(1);
    const looks = await samples('reflections_total');
    expect(looks.get('status="done",reason="none"')).toBe(2);
    expect(looks.get('status="skipped",reason="plan_skip"')).toBe(1);
    const whose = `${decider},provider="default"`;
    expect((await samples('model_calls_total')).get(`${whose},outcome="answer"`)).toBe(1);
    expect((await samples('model_call_seconds_count')).get(whose)).toBe(1);
    const tokens = await samples('model_tokens_total');
    const [input, output] = ['input', 'output'].map((direction) => tokens.get(`${whose},direction="${direction}"`)!);
    expect(Math.min(input!, output!)).toBeGreaterThan(0);
    expect((await samples('model_cost_total')).get(whose)).toBeCloseTo((input! + 5 * output!) / 10);
    expect((await samples('memory_decisions_total')).get('classification="LONG"')).toBe(1);
    expect((await samples('events_total')).get('type="turn.completed"')).toBe(3);
  });

  it('counts calls that fail by their fault', async () => {
    model.reply('persist_decider', { status: 401 });
    await reflectOn({ interactions: [aMessage({ body: 'Another thing altogether.' })] });
    model.reply('persist_decider', 'NOOP');
    const failures = await samples('model_call_failures_total');
    expect(failures.get('worker="persist_decider",provider="default",fault="refused"')).toBe(1);
    expect((await samples('reflections_total')).get('status="dead",reason="refused"')).toBe(1);
    expect(
      (await samples('reflection_worker_ends_total')).get('worker="persist_decider",outcome="dead",reason="refused"'),
    ).toBe(1);
  });

  it('counts blocks by reason, each once a turn', async () => {
    const request = aPlanRequest();
    for (let time = 0; time < 2; time++) await test.http.post('/agents/planner/plan-context').send(request).expect(200);
    const blocks = await samples('plan_blocks_total');
    expect([...blocks.values()].reduce((sum, count) => sum + count, 0)).toBe(7);
    expect([...blocks.keys()].filter((labels) => labels.includes('personal_memory'))).toHaveLength(1);
  });

  it('shows the rows there are: memories, episodes, jobs, what is not embedded', async () => {
    await register(test.http, 'rower');
    const before = (await samples('memories')).get('kind="diary_short"')!;
    await remember(test.http, 'rower', 'Sprint freeze', { kind: 'diary_short' });
    expect((await samples('memories')).get('kind="diary_short"')).toBe(before + 1);
    expect((await samples('episodes')).get('kind="raw"')).toBeGreaterThanOrEqual(3);
    const jobs = await samples('jobs');
    expect(jobs.get('task="reflect-turn",status="dead"')).toBe(1);
    expect(jobs.get('task="sweep",status="dead"')).toBe(0);
    expect((await samples('job_oldest_seconds')).get('task="reflect-turn"')).toBe(0);
    expect((await samples('unembedded_rows')).get('table="agent_diary"')).toBe(0);
    await test.database.query(
      `update agent_diary set embedding = null, embedding_model = 'older' where content = 'Sprint freeze'`,
    );
    expect((await samples('unembedded_rows')).get('table="agent_diary"')).toBe(1);
  });

  it('adds up what compactions did, whatever they count', async () => {
    const [org] = await test.database.query<{ id: string }>('select id from organizations');
    const nobody = { agent_id: null, agent_handle: null, role: null, turn_id: null, trace_id: null, span_id: null };
    for (const skipped of [null, 'no_model', 'Zoë has no model']) {
      const payload = { agent_handle: 'rower', clusters_compacted: 2, compacted_evicted: 0, skipped_reason: skipped };
      const draft = { org_id: org!.id, ...nobody, payload } as unknown as EventDraft<AppEventType>;
      test.app.get(EventBus).publish('compaction.completed', draft);
    }
    expect(await samples('compaction_rows_total')).toEqual(
      new Map([
        ['action="clusters_compacted"', 6],
        ['action="compacted_evicted"', 0],
      ]),
    );
    expect(await samples('compactions_total')).toEqual(
      new Map(['none', 'no_model', 'other'].map((reason) => [`skipped_reason="${reason}"`, 1])),
    );
  });

  it('counts requests by the template of their route, and names nobody', async () => {
    await test.http.get('/agents/zebra-handle/memory').expect(404);
    await test.http.get('/agents/rower/memory').expect(200);
    await test.http.get('/no/such/zebra-route').expect(404);
    const counts = await samples('http_request_seconds_count');
    expect(counts.get('method="GET",route="/agents/:id/memory",status="404"')).toBe(1);
    expect(counts.get('method="GET",route="/agents/:id/memory",status="200"')).toBe(1);
    expect(counts.get('method="GET",route="unmatched",status="404"')).toBe(1);
    const { text } = await test.http.get('/metrics').expect(200);
    for (const word of ['zebra', 'rower', 'support-1', 'Alice', 'Sprint']) expect(text).not.toContain(word);
  });

  it('leaves out a figure that cannot be read, and says so', async () => {
    await test.database.query('alter table episodes rename to episodes_away');
    try {
      expect((await samples('episodes')).size).toBe(0);
      expect((await samples('memories')).size).toBe(2);
      expect((await samples('figure_failures_total')).get('figure="episodes"')).toBeGreaterThan(0);
    } finally {
      await test.database.query('alter table episodes_away rename to episodes');
    }
    expect((await samples('episodes')).size).toBe(2);
  });

  it('answers many who ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => test.http.get('/metrics')));
    expect(answers.every(({ status, text }) => status === 200 && text.includes('agent_learning_jobs{'))).toBe(true);
  });
});
