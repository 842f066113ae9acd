import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { LoopbackServer } from './support/loopback-server.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aTurn } from './support/turns.js';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  status: { code?: number };
}

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const model = await ScriptedModel.start();
afterAll(() => model.close());

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
  model.reset();
});

/** A collector that keeps what it is sent. */
async function collector(): Promise<{ url: string; spans: Span[]; paths: Set<string> }> {
  const [spans, paths] = [[] as Span[], new Set<string>()];
  const server = await LoopbackServer.start(({ path, body }) => {
    paths.add(path);
    const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
    spans.push(...resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)));
    return { status: 200, body: {} };
  });
  closing.push(() => server.close());
  return { url: server.url, spans, paths };
}

function attributesOf(span: Span): Record<string, string | undefined> {
  return Object.fromEntries(span.attributes.map(({ key, value }) => [key, value.stringValue]));
}

async function reflectOn(test: TestApp, changes: Record<string, unknown>, headers = {}): Promise<string> {
  const turn = aTurn(changes);
  await test.http.post('/turns').set(headers).send(turn).expect(202);
  await test.reflected(turn.turn_id);
  return turn.turn_id;
}

describe('traces', () => {
  it("hold a span a worker below learning.reflect, under the turn's own, and are sent at the latest at a shutdown", async () => {
    const { url, spans, paths } = await collector();
    model.reply('persist_decider', '{"kind":"LONG","content":"Alice prefers short answers."}');
    const test = await startApp({ model, env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` } });
    const traced = { traceparent: `00-${TRACE}-${SPAN}-01` };
    const turnId = await reflectOn(test, {}, traced);
    await reflectOn(test, { review_outcome: 'self_iterate' }, traced);
    await reflectOn(test, { plan: { decision: 'skip', summary: '' } }, traced);
    await reflectOn(test, { agent: 'untraced', task_description: 'Other', tool_sequence: ['x'] });
    model.reply('persist_decider', { status: 401 });
    await reflectOn(test, { agent: 'dead' }, traced);
    await test.close();

    expect([...paths]).toEqual(['/v1/traces']);
    const reflects = spans.filter(({ name }) => name === 'learning.reflect');
    const under = reflects.filter(({ traceId }) => traceId === TRACE);
    expect(under.map(({ parentSpanId }) => parentSpanId)).toEqual([SPAN, SPAN, SPAN, SPAN]);
    const done = under.find((span) => attributesOf(span)['learning.turn_id'] === turnId)!;
    expect(attributesOf(done)).toMatchObject({ 'learning.outcome': 'done' });
    const childOf = (parent: Span): Span[] => spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
    const [worker] = childOf(done).filter(({ name }) => name === 'learning.persist_decider');
    expect(worker).toMatchObject({ traceId: TRACE });
    expect(attributesOf(worker!)).toEqual({ 'learning.worker': 'persist_decider', 'learning.outcome': 'done' });
    expect(BigInt(worker!.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(done.startTimeUnixNano));
    expect(BigInt(worker!.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(done.endTimeUnixNano));

    const skips = spans.map(attributesOf).flatMap((attributes) => attributes['learning.skip_reason'] ?? []);
    expect(skips).toEqual(expect.arrayContaining(['non_terminal', 'plan_skip']));
    const [alone] = reflects.filter(({ traceId }) => traceId !== TRACE);
    expect(alone!.parentSpanId ?? '').toBe('');
    expect(childOf(alone!)[0]!.traceId).toBe(alone!.traceId);
    const failed = spans
      .filter(({ status }) => status.code === 2)
      .map((span) => [span.name, attributesOf(span)['learning.outcome']]);
    expect(failed).toEqual(
      expect.arrayContaining([
        ['learning.reflect', 'failed'],
        ['learning.persist_decider', 'failed'],
      ]),
    );
    expect(JSON.stringify(spans)).not.toMatch(/Alice|short answers|support-1/);
  }, 60_000);

  it.each([
    ['is down', async () => 'http://127.0.0.1:1'],
    [
      'hangs',
      async () => {
        const server = await LoopbackServer.start(() => ({ status: 200, body: {}, delayMs: Infinity }));
        closing.push(() => server.close());
        return server.url;
      },
    ],
  ])(
    'harm nobody where the collector %s',
    async (_, urlOf) => {
      const test = await startApp({ model, env: { OTEL_EXPORTER_OTLP_ENDPOINT: await urlOf() } });
      for (let index = 0; index < 3; index++) await reflectOn(test, { agent: `agent-${index}` });
      const asked = Date.now();
      await test.close();
      expect(Date.now() - asked).toBeLessThan(30_000);
    },
    60_000,
  );
});
