import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ScriptedModel } from '../../../test/support/scripted-model.js';
import { LoopbackServer } from '../../../test/support/loopback-server.js';
import { LlmProviderSettings } from '../config/service-settings.js';
import { Settings } from '../config/settings.js';
import { AnthropicProvider } from './anthropic.provider.js';
import type { HttpLlmProvider } from './http-llm-provider.js';
import type { LlmError, LlmProviderOptions, LlmRequest } from './llm.models.js';
import { LlmProviders } from './llm-providers.js';
import { OpenAiCompatibleProvider } from './openai-compatible.provider.js';

const request: LlmRequest = { worker: 'persist_decider', system: 'the rules', user: 'the data' };
const schema = z.object({ note: z.string().max(10) });
const soon = { 'retry-after-ms': '1' };

let model: ScriptedModel;
beforeAll(async () => {
  model = await ScriptedModel.start();
});
beforeEach(() => model.reset());
afterAll(() => model.close());

const kinds = [
  ['anthropic', AnthropicProvider, () => model.anthropicUrl],
  ['openai_compatible', OpenAiCompatibleProvider, () => model.openAiUrl],
] as const;

async function faultOf(call: Promise<unknown>): Promise<LlmError> {
  return call.then(
    () => {
      throw new Error('the call did not fail');
    },
    (error: unknown) => error as LlmError,
  );
}

/** A call whose caller runs out of time once the server has it. */
async function outOfTime(provider: HttpLlmProvider): Promise<void> {
  const caller = new AbortController();
  model.reply('*', () => {
    caller.abort(new DOMException('too late', 'TimeoutError'));
    return { delayMs: Infinity };
  });
  const fault = await faultOf(provider.complete({ ...request, signal: caller.signal }));
  expect(fault.message).toBe("aux: no answer within the caller's own time");
}

describe.each(kinds)('the %s provider', (kind, Provider, url) => {
  const provider = (options: Partial<LlmProviderOptions> = {}, now?: () => number): HttpLlmProvider =>
    new Provider(
      { name: 'aux', model: 'm-1', baseUrl: url(), apiKey: 'key-1', timeoutSeconds: 5, maxRetries: 2, ...options },
      now,
    );

  it('sends rules, data, worker and key, and no sampling parameter', async () => {
    model.reply('persist_decider', 'hello');
    await expect(provider().complete(request)).resolves.toEqual({ text: 'hello', inputTokens: 5, outputTokens: 2 });
    const [sent] = model.requests;
    expect(sent).toMatchObject({ worker: 'persist_decider', system: 'the rules', user: 'the data' });
    expect(sent!.headers.authorization).toBe('Bearer key-1');
    expect(sent!.body).toMatchObject({ model: 'm-1' });
    for (const absent of ['temperature', 'top_p', 'stream', 'output_config', 'response_format']) {
      expect(sent!.body).not.toHaveProperty(absent);
    }
  });

  it('sends a temperature only where one is configured', async () => {
    await provider({ temperature: 0.2 }).complete(request);
    expect(model.requests[0]!.body.temperature).toBe(0.2);
  });

  it('bounds the output as asked, else as the protocol wants it', async () => {
    await provider().complete({ ...request, maxTokens: 400 });
    await provider().complete({ ...request, maxTokens: 0 });
    expect(model.requests.map(({ body }) => body.max_tokens)).toEqual([400, kind === 'anthropic' ? 8192 : undefined]);
  });

  it('asks for the output format of a schema', async () => {
    await provider().complete({ ...request, schema });
    const { output_config, response_format } = model.requests[0]!.body as {
      output_config?: { format: { schema: unknown } };
      response_format?: { json_schema: { schema: unknown } };
    };
    expect(kind === 'anthropic' ? output_config!.format.schema : response_format!.json_schema.schema).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['note'],
      properties: { note: { type: 'string', description: '{maxLength: 10}' } },
    });
  });

  it('asks without a format where the server refuses it, and remembers that', async () => {
    model.reply('*', ({ body }) =>
      body.output_config || body.response_format
        ? {
            status: 400,
            body: { error: { message: "output_config, response_format: 'json_schema' is not supported" } },
          }
        : 'ok',
    );
    const own = provider();
    await expect(own.complete({ ...request, schema })).resolves.toMatchObject({ text: 'ok' });
    await own.complete({ ...request, schema });
    expect(model.requests).toHaveLength(3);
  });

  it.each([400, 401, 402, 403, 404, 413, 422])('makes one call of a %i', async (status) => {
    model.reply('*', { status, headers: { ...soon, 'x-should-retry': 'true' } });
    const fault = await faultOf(provider().complete({ ...request, schema }));
    expect(fault).toMatchObject({ name: 'LlmError', fault: 'refused', details: { provider: 'aux', status } });
    expect(model.requests).toHaveLength(1);
  });

  it.each([408, 409, 429, 500, 503, 529])('retries a %i, within the bound', async (status) => {
    model.reply('*', { status, headers: { ...soon, 'x-should-retry': 'false' } });
    const fault = await faultOf(provider().complete(request));
    expect(fault).toMatchObject({ fault: 'transient', details: { status } });
    expect(model.requests).toHaveLength(3);
  });

  it('recovers within the bound', async () => {
    model.reply('*', () => (model.requests.length < 3 ? { status: 529, headers: soon } : 'there'));
    await expect(provider().complete(request)).resolves.toMatchObject({ text: 'there' });
  });

  it('ends the whole call at its deadline, whatever the server asks to wait', async () => {
    model.reply('*', { status: 429, headers: { 'retry-after': '0.25' } });
    const started = Date.now();
    const fault = await faultOf(provider({ timeoutSeconds: 0.3, maxRetries: 10 }).complete(request));
    expect(fault).toMatchObject({ fault: 'transient', message: 'aux: no answer within 0.3 s' });
    expect(Date.now() - started).toBeLessThan(600);
    expect(model.requests.length).toBeLessThanOrEqual(2);
  });

  it('does not sleep towards a retry that lies beyond its deadline, and says when it would be', async () => {
    model.reply('*', { status: 429, headers: { 'retry-after': '120' } });
    const started = Date.now();
    const fault = await faultOf(provider({}, () => 1_000).complete(request));
    expect(Date.now() - started).toBeLessThan(500);
    expect(fault.details.retryAt).toEqual(new Date(121_000));
    expect(model.requests).toHaveLength(1);
  });

  it('takes a hanging server for transient', async () => {
    model.reply('*', { delayMs: Infinity });
    const fault = await faultOf(provider({ timeoutSeconds: 0.1 }).complete(request));
    expect(fault).toMatchObject({ fault: 'transient', message: expect.stringContaining('no answer within 0.1 s') });
  });

  it('takes a broken connection for transient, and says which', async () => {
    const closed = await LoopbackServer.start(() => ({ status: 200, body: '' }));
    await closed.close();
    const fault = await faultOf(provider({ baseUrl: `${closed.url}/v1`, maxRetries: 0 }).complete(request));
    expect(fault).toMatchObject({ fault: 'transient', message: expect.stringContaining('ECONNREFUSED') });
  });

  it('is cancelled by its caller', async () => {
    const caller = new AbortController();
    model.reply('*', () => {
      caller.abort();
      return { delayMs: Infinity };
    });
    const call = faultOf(provider().complete({ ...request, signal: caller.signal }));
    expect(await call).toMatchObject({ fault: 'transient', message: 'aux: the call was cancelled' });
  });

  it.each([
    ['HTML', { headers: { 'content-type': 'text/html' }, body: { raw: '<html>' } }],
    ['an empty object', { body: {} }],
    ['null', { body: null }],
    ['a list', { body: [] }],
  ])('takes a 200 with %s for transient', async (_name, reply) => {
    model.reply('*', { ...reply, status: 200 });
    expect(await faultOf(provider().complete(request))).toMatchObject({ fault: 'transient' });
  });

  it('follows no redirect', async () => {
    let reached = false;
    const other = await LoopbackServer.start(() => {
      reached = true;
      return { status: 200, body: {} };
    });
    model.reply('*', { status: 307, headers: { location: `${other.url}/v1/messages` } });
    expect(await faultOf(provider().complete(request))).toMatchObject({ fault: 'refused', details: { status: 307 } });
    expect(reached).toBe(false);
    await other.close();
  });

  it('sends no key where none is configured', async () => {
    await provider({ apiKey: undefined }).complete(request);
    expect(model.requests[0]!.headers).not.toHaveProperty('authorization');
    expect(model.requests[0]!.headers).not.toHaveProperty('x-api-key');
  });

  it('keeps what it says storable and short', async () => {
    model.reply('*', { status: 400, body: { error: { message: `\u0000${'x'.repeat(5_000)}` } } });
    const { message } = await faultOf(provider().complete(request));
    expect(message.length).toBeLessThanOrEqual(300);
    expect(message).not.toContain('\u0000');
  });

  describe('with its breaker', () => {
    it('is left alone after five calls that failed, then asked once', async () => {
      const clock = { now: 0 };
      const own = provider({ maxRetries: 1 }, () => clock.now);
      model.reply('*', { status: 529, headers: soon });
      for (let call = 0; call < 5; call += 1) await faultOf(own.complete(request));
      expect(model.requests).toHaveLength(10);
      expect(await faultOf(own.complete(request))).toMatchObject({
        fault: 'open',
        details: { retryAt: new Date(30_000) },
      });
      expect(model.requests).toHaveLength(10);
      clock.now = 30_000;
      model.reply('*', 'back');
      await expect(own.complete(request)).resolves.toMatchObject({ text: 'back' });
      await expect(own.complete(request)).resolves.toMatchObject({ text: 'back' });
    });

    it('never counts a refusal or a caller that gave up', async () => {
      const own = provider();
      model.reply('*', { status: 401 });
      for (let call = 0; call < 6; call += 1) await faultOf(own.complete(request));
      const caller = AbortSignal.abort();
      for (let call = 0; call < 6; call += 1) await faultOf(own.complete({ ...request, signal: caller }));
      for (let call = 0; call < 6; call += 1) await outOfTime(own);
      model.reply('*', 'fine');
      await expect(own.complete(request)).resolves.toMatchObject({ text: 'fine' });
    });

    it('counts a caller whose time ran out although it was long enough', async () => {
      const clock = { now: 0 };
      const own = provider({}, () => (clock.now += 2_000));
      for (let call = 0; call < 5; call += 1) await outOfTime(own);
      expect(await faultOf(own.complete(request))).toMatchObject({ fault: 'open' });
    });
  });
});

describe('the SDKs', () => {
  const variables = {
    ANTHROPIC_AUTH_TOKEN: 'other',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_CUSTOM_HEADERS: 'x-stolen: 1\nauthorization: Bearer other',
    ANTHROPIC_LOG: 'debug',
    OPENAI_BASE_URL: 'http://127.0.0.1:9',
    OPENAI_API_KEY: 'other',
    OPENAI_ADMIN_KEY: 'other',
    OPENAI_ORG_ID: 'org',
    OPENAI_PROJECT_ID: 'project',
    OPENAI_CUSTOM_HEADERS: 'x-stolen: 1\nauthorization: Bearer other',
    HTTP_PROXY: 'http://127.0.0.1:9',
  };

  it.each(kinds)('%s takes nothing from the environment', async (_kind, Provider, url) => {
    const before = { ...process.env };
    Object.assign(process.env, variables);
    try {
      for (const apiKey of ['key-1', undefined]) {
        const options = { name: 'aux', model: 'm', baseUrl: url(), apiKey, timeoutSeconds: 5, maxRetries: 0 };
        await new Provider(options).complete(request);
        const { headers } = model.requests.at(-1)!;
        expect(headers.authorization).toBe(apiKey && `Bearer ${apiKey}`);
        for (const name of ['x-stolen', 'openai-organization', 'openai-project', 'x-api-key']) {
          expect(headers).not.toHaveProperty(name);
        }
      }
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});

describe('what a compatible server answers', () => {
  const answered = async (message: unknown): Promise<string> => {
    model.reply('*', { status: 200, body: { choices: [{ message }] } });
    const options = { name: 'aux', model: 'm', baseUrl: model.openAiUrl, timeoutSeconds: 5, maxRetries: 0 };
    const { text, inputTokens } = await new OpenAiCompatibleProvider(options).complete(request);
    expect(inputTokens).toBe(0);
    return text;
  };

  it('is its content, without the thoughts before it', async () => {
    expect(await answered({ content: 'plain' })).toBe('plain');
    expect(await answered({ content: null, refusal: 'no' })).toBe('');
    expect(await answered({ content: [{ type: 'text', text: 'a' }, { type: 'x' }, { type: 'text', text: 'b' }] })).toBe(
      'ab',
    );
    expect(await answered({ content: '<think>{"note": "draft"}</think>NOOP' })).toBe('NOOP');
    expect(await answered({ content: '\n<think>{"note": "never ended"}' })).toBe('');
  });
});

describe('what Anthropic answers', () => {
  it('is its text blocks, joined, and all that was read counts', async () => {
    const content = [
      { type: 'thinking', thinking: 'x' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const usage = { input_tokens: 1, cache_creation_input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 8 };
    model.reply('*', { status: 200, body: { content, usage } });
    const options = { name: 'aux', model: 'm', baseUrl: model.anthropicUrl, timeoutSeconds: 5, maxRetries: 0 };
    expect(await new AnthropicProvider(options).complete(request)).toEqual({
      text: 'ab',
      inputTokens: 7,
      outputTokens: 8,
    });
  });
});

describe('the providers of the settings', () => {
  it('are there by name', async () => {
    const settings = new Settings();
    settings.environment.openai_base_url = model.openAiUrl;
    settings.environment.openai_api_key = 'from-environment';
    settings.environment.anthropic_api_key = 'not-for-others';
    const of = (values: Partial<LlmProviderSettings>): LlmProviderSettings =>
      Object.assign(new LlmProviderSettings(), values);
    settings.llm.providers.set('default', of({ kind: 'anthropic', model: 'a', base_url: model.anthropicUrl }));
    settings.llm.providers.set('local', of({ kind: 'openai_compatible', model: 'o' }));
    const providers = new LlmProviders(settings);
    expect(providers.names).toEqual(['default', 'local']);
    expect(providers.get('other')).toBeUndefined();
    await providers.get('default')!.complete(request);
    await providers.get('local')!.complete(request);
    expect(model.requests.map(({ path, body }) => [path, body.model])).toEqual([
      ['/v1/messages', 'a'],
      ['/v1/chat/completions', 'o'],
    ]);
    expect(model.requests[0]!.headers.authorization).toBeUndefined();
    expect(model.requests[1]!.headers.authorization).toBe('Bearer from-environment');
  });

  it('are none where none is configured', () => {
    expect(new LlmProviders(new Settings()).names).toEqual([]);
  });
});
