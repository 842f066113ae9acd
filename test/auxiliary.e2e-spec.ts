import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { z } from 'zod';
import { AuxiliaryModel } from '../src/core/auxiliary/auxiliary-model.js';
import type { AuxiliaryCall, AuxiliaryUnavailable } from '../src/core/auxiliary/auxiliary.models.js';
import { UsageMeter } from '../src/core/auxiliary/usage-meter.js';
import { LlmProviderSettings } from '../src/platform/config/service-settings.js';
import { Settings } from '../src/platform/config/settings.js';
import { EventBus } from '../src/platform/events/event-bus.js';
import type { AppEvent } from '../src/platform/events/app-events.js';
import { LlmProviders } from '../src/platform/llm/llm-providers.js';
import { testDatabase, type TestDatabase } from './support/database.js';
import { ScriptedModel } from './support/scripted-model.js';

const orgId = randomUUID();
const agent = { id: randomUUID(), handle: 'support-1', role: 'support' };
const soon = { 'retry-after-ms': '1' };

let test: TestDatabase;
let model: ScriptedModel;
beforeAll(async () => {
  test = await testDatabase();
  model = await ScriptedModel.start();
});
beforeEach(async () => {
  model.reset();
  await test.reset();
});
afterAll(async () => {
  await model.close();
  await test.close();
});

/** Providers `first` and `second`, told apart by their model. */
function setUp() {
  const settings = new Settings();
  for (const name of ['first', 'second']) {
    const provider = { kind: 'openai_compatible', model: name, base_url: model.openAiUrl, max_retries: 0 };
    settings.llm.providers.set(name, Object.assign(new LlmProviderSettings(), provider));
  }
  const events = new EventBus(new EventEmitter2(), test.database);
  const seen: AppEvent<'auxiliary_call.completed'>[] = [];
  events.on('auxiliary_call.completed', (event) => void seen.push(event));
  const meter = new UsageMeter(test.database);
  return { auxiliary: new AuxiliaryModel(new LlmProviders(settings), meter, events, test.database), meter, seen };
}

function call(values: Partial<AuxiliaryCall> = {}): AuxiliaryCall {
  return {
    orgId,
    agent,
    chain: ['first', 'second'],
    turnId: randomUUID(),
    worker: 'persist_decider',
    system: 'rules',
    user: 'secret data',
    ...values,
  };
}

async function faultOf(asked: Promise<unknown>): Promise<AuxiliaryUnavailable> {
  return asked.then(
    () => {
      throw new Error('the call did not fail');
    },
    (error: unknown) => error as AuxiliaryUnavailable,
  );
}

describe('the chain of a role', () => {
  it('is its auxiliary list, else its list, else default, of what is configured', () => {
    const { auxiliary } = setUp();
    expect(auxiliary.chainOf({ llmAuxiliary: ['second', 'nobody', 'first', 'second'], llm: ['first'] })).toEqual([
      'second',
      'first',
    ]);
    expect(auxiliary.chainOf({ llmAuxiliary: [], llm: ['first'] })).toEqual(['first']);
    expect(auxiliary.chainOf({ llmAuxiliary: ['nobody'], llm: ['first'] })).toEqual([]);
  });
});

describe('asking', () => {
  it('reads what fits, NOOP and what does not', async () => {
    const { auxiliary } = setUp();
    const schema = z.object({ note: z.string() });
    model.reply('*', '```json\n{"note": "a"}\n```');
    expect(await auxiliary.ask({ ...call(), schema })).toEqual({ kind: 'answer', value: { note: 'a' } });
    model.reply('*', 'NOOP');
    expect(await auxiliary.ask({ ...call(), schema })).toEqual({ kind: 'noop' });
    model.reply('*', '{"note": 1}');
    expect(await auxiliary.ask({ ...call(), schema })).toMatchObject({ kind: 'unusable' });
    model.reply('*', '{"selected": [1, 2]}');
    expect(await auxiliary.ask({ ...call(), schema: z.array(z.unknown()), shape: 'array' })).toEqual({
      kind: 'answer',
      value: [1, 2],
    });
    model.reply('*', ' plain text ');
    expect(await auxiliary.ask(call())).toEqual({ kind: 'answer', value: 'plain text' });
    expect(model.requests).toHaveLength(5);
    expect(model.requests.map(({ body }) => body.response_format !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('sends no half character', async () => {
    await setUp().auxiliary.ask(call({ user: 'a\ud800', system: 'b\udc00' }));
    expect(model.requests[0]).toMatchObject({ user: 'a\uFFFD', system: 'b\uFFFD' });
  });

  it.each([401, 402, 400, 404, 429, 529])('moves on to the next provider at a %i', async (status) => {
    model.reply('*', ({ body }) => (body.model === 'first' ? { status, headers: soon } : 'fine'));
    const { auxiliary, seen } = setUp();
    expect(await auxiliary.ask(call())).toEqual({ kind: 'answer', value: 'fine' });
    expect(model.requests.map(({ body }) => body.model)).toEqual(['first', 'second']);
    expect(seen.map(({ payload }) => payload.provider)).toEqual(['second']);
  });

  it('asks nobody else after an unusable answer', async () => {
    model.reply('*', 'gibberish');
    await setUp().auxiliary.ask({ ...call(), schema: z.object({ note: z.string() }) });
    expect(model.requests).toHaveLength(1);
  });

  it('fails as something to retry where one of the faults passes by', async () => {
    const statuses = { first: 401, second: 529 };
    model.reply('*', ({ body }) => ({ status: statuses[body.model as 'first'], headers: { 'retry-after': '5' } }));
    const { auxiliary } = setUp();
    const fault = await faultOf(auxiliary.ask(call()));
    expect(fault).toMatchObject({ name: 'AuxiliaryUnavailable', fault: 'transient', retryAt: expect.any(Date) });
    expect(fault.message).toMatch(/^first: 401 .*; second: 529 /);
    statuses.first = 529;
    statuses.second = 400;
    expect(await faultOf(auxiliary.ask(call()))).toMatchObject({ fault: 'transient' });
    statuses.first = 402;
    expect(await faultOf(auxiliary.ask(call()))).toMatchObject({ fault: 'refused', retryAt: undefined });
  });

  it('says when every provider is left alone', async () => {
    model.reply('*', { status: 500 });
    const { auxiliary } = setUp();
    for (let count = 0; count < 5; count += 1) await faultOf(auxiliary.ask(call()));
    expect(model.requests).toHaveLength(10);
    expect(await faultOf(auxiliary.ask(call()))).toMatchObject({ fault: 'open', retryAt: expect.any(Date) });
    expect(model.requests).toHaveLength(10);
  });

  it('has no model where the chain is empty or unknown', async () => {
    const { auxiliary } = setUp();
    expect(await faultOf(auxiliary.ask(call({ chain: [] })))).toMatchObject({ fault: 'no_model' });
    expect(await faultOf(auxiliary.ask(call({ chain: ['nobody'] })))).toMatchObject({ fault: 'no_model' });
  });

  it('asks nobody else once its caller has given up', async () => {
    const caller = new AbortController();
    model.reply('*', () => {
      caller.abort();
      return { delayMs: Infinity };
    });
    expect(await faultOf(setUp().auxiliary.ask(call({ signal: caller.signal })))).toMatchObject({ fault: 'transient' });
    expect(model.requests).toHaveLength(1);
  });

  it('is not done inside a transaction', async () => {
    const { auxiliary } = setUp();
    await expect(test.database.transaction(() => auxiliary.ask(call()))).rejects.toThrow('inside a transaction');
    expect(model.requests).toHaveLength(0);
  });

  it('tells what it cost, and not what was said', async () => {
    model.reply('*', 'the answer');
    const { auxiliary, seen } = setUp();
    const turnId = randomUUID();
    await auxiliary.ask(call({ turnId, traceId: 'trace', spanId: 'span' }));
    expect(seen).toEqual([
      expect.objectContaining({
        type: 'auxiliary_call.completed',
        org_id: orgId,
        agent_id: agent.id,
        agent_handle: 'support-1',
        role: 'support',
        turn_id: turnId,
        trace_id: 'trace',
        span_id: 'span',
        payload: {
          worker: 'persist_decider',
          provider: 'first',
          model: 'first',
          outcome: 'answer',
          input_tokens: 4,
          output_tokens: 3,
          duration_ms: expect.any(Number),
        },
      }),
    ]);
    expect(JSON.stringify(seen)).not.toMatch(/secret|the answer/);
  });

  it('meters every reply, an unusable one too, and survives a meter that fails', async () => {
    const { auxiliary, meter } = setUp();
    model.reply('*', 'gibberish');
    await auxiliary.ask({ ...call(), schema: z.object({ note: z.string() }) });
    expect(await meter.tokensToday(orgId)).toBe(7);
    await test.database.query(`alter table llm_usage rename to llm_usage_away`);
    try {
      expect(await auxiliary.ask(call())).toEqual({ kind: 'answer', value: 'gibberish' });
    } finally {
      await test.database.query(`alter table llm_usage_away rename to llm_usage`);
    }
  });
});

describe('the usage meter', () => {
  const metered = { orgId, agentId: agent.id, worker: 'w', provider: 'first', inputTokens: 10, outputTokens: 5 };

  it.each([
    [1.5, 2],
    [0.4, 0],
    [1e300, 2_147_483_647],
    [Infinity, 2_147_483_647],
    [Number.MAX_SAFE_INTEGER, 2_147_483_647],
    [-7, 0],
    [-0.2, 0],
    [NaN, 0],
    ['12' as unknown as number, 0],
    [null as unknown as number, 0],
  ])('counts a call of %p tokens, as %p', async (stated, counted) => {
    const { meter } = setUp();
    await meter.record({ ...metered, inputTokens: stated, outputTokens: 1 });
    expect((await meter.list({ orgId, limit: 50 })).items).toEqual([
      expect.objectContaining({ calls: 1, input_tokens: counted, output_tokens: 1 }),
    ]);
  });

  it('adds up calls that end at once', async () => {
    const { meter } = setUp();
    await Promise.all(Array.from({ length: 50 }, () => meter.record(metered)));
    expect(await meter.list({ orgId, limit: 50 })).toMatchObject({
      items: [{ agent: agent.id, worker: 'w', provider: 'first', calls: 50, input_tokens: 500, output_tokens: 250 }],
      total: 1,
    });
  });

  it('counts a day in UTC, of one organisation and one agent', async () => {
    const { meter } = setUp();
    const other = { ...metered, agentId: randomUUID() };
    await meter.record(metered, new Date('2026-05-01T23:59:59.999Z'));
    await meter.record(metered, new Date('2026-05-02T00:00:00Z'));
    await meter.record(other, new Date('2026-05-02T12:00:00+11:00'));
    await meter.record({ ...metered, orgId: randomUUID() }, new Date('2026-05-02T10:00:00Z'));
    const at = new Date('2026-05-02T23:00:00Z');
    expect(await meter.tokensToday(orgId, undefined, at)).toBe(30);
    expect(await meter.tokensToday(orgId, agent.id, at)).toBe(15);
    expect(await meter.tokensToday(orgId, agent.id, new Date('2026-05-03T00:00:00Z'))).toBe(0);
    const days = async (filter: object): Promise<string[]> =>
      (await meter.list({ orgId, limit: 50, ...filter })).items.map(({ day }) => day);
    expect(await days({})).toEqual(['2026-05-02', '2026-05-02', '2026-05-01']);
    expect(await days({ from: '2026-05-02', agentId: agent.id })).toEqual(['2026-05-02']);
    expect(await days({ to: '2026-05-01' })).toEqual(['2026-05-01']);
  });

  it('is walked page by page, with the handle of the agent', async () => {
    const { meter } = setUp();
    await test.database.query(
      `insert into agents (id, org_id, handle, role, active, credentials, created_at)
       values ($1, $2, 'support-1', 'support', true, '{}', now())`,
      [agent.id, orgId],
    );
    for (let count = 0; count < 7; count += 1) {
      await meter.record({ ...metered, worker: `w${count % 4}` }, new Date(Date.UTC(2026, 4, 1 + (count >> 2))));
    }
    const walked = [];
    let cursor: string | undefined;
    do {
      const page = await meter.list({ orgId, limit: 2, cursor });
      expect(page.total).toBe(7);
      walked.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(new Set(walked.map(({ day, worker }) => `${day} ${worker}`)).size).toBe(7);
    expect(walked.every((item) => item.agent === 'support-1')).toBe(true);
    expect(walked.map(({ day }) => day)).toEqual([...walked.map(({ day }) => day)].sort().reverse());
    await expect(meter.list({ orgId, limit: 2, cursor: 'x' })).rejects.toMatchObject({ status: 422 });
  });
});
