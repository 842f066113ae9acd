import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LoopbackServer } from '../../../test/support/loopback-server.js';
import { ScriptedEmbedder, vectorOf } from '../../../test/support/scripted-embedder.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { embedderOf } from './embeddings.module.js';
import { Embeddings } from './embeddings.js';
import { HashingEmbedder } from './hashing.embedder.js';

// never connected: all that is asked of it is whether a transaction runs
const database = new Database(new DataSource({ type: 'postgres' }));

let server: ScriptedEmbedder;
beforeEach(async () => {
  server = await ScriptedEmbedder.start();
});
afterEach(() => server.close());

function embeddingsOf(values: Partial<Settings['embeddings']>, now?: () => number): Embeddings {
  const settings = new Settings();
  const remote = { provider: 'openai_compatible' as const, model: 'e-1', base_url: server.url, max_retries: 0 };
  Object.assign(settings.embeddings, remote, values);
  return new Embeddings(embedderOf(settings), database, now);
}

const refusing =
  (word: string, status = 500) =>
  ({ texts }: { texts: string[] }) =>
    texts.some((text) => text.includes(word)) ? { status } : null;

describe('embeddings', () => {
  it('are built in unless something else is configured', async () => {
    const settings = new Settings();
    expect(embedderOf(settings)).toBeInstanceOf(HashingEmbedder);
    const own = new Embeddings(embedderOf(settings), database);
    expect(own).toMatchObject({ model: 'hashing-v1-384', local: true });
    expect(await own.embed('hello')).toHaveLength(384);
    expect(await own.embed('')).toHaveLength(384);
  });

  it('can be off', async () => {
    const own = embeddingsOf({ provider: 'none' });
    expect(own).toMatchObject({ model: null, local: true });
    expect(await own.embedMany(['a', 'b'])).toEqual([null, null]);
  });

  it('ask nothing of the server before the first text', async () => {
    const own = embeddingsOf({ base_url: 'http://127.0.0.1:9/v1' });
    expect(own).toMatchObject({ model: 'e-1', local: false, outage: false });
  });

  it('come in order, in batches', async () => {
    const texts = Array.from({ length: 150 }, (_, index) => `text ${index}`);
    expect(await embeddingsOf({}).embedMany(texts)).toEqual(texts.map((text) => vectorOf(text, 8)));
    expect(server.requests.map((request) => request.texts.length)).toEqual([64, 64, 22]);
  });

  it.each([400, 500])('of one bad text are missing alone (%i)', async (status) => {
    server.fails = refusing('bad', status);
    const own = embeddingsOf({});
    let told = 0;
    own.onUnembedded(() => (told += 1));
    expect(await own.embedMany(['one', 'bad', 'three'])).toEqual([vectorOf('one', 8), null, vectorOf('three', 8)]);
    expect(own.outage).toBe(false);
    expect(told).toBe(1);
  });

  it('of a long text do not keep those beside it away', async () => {
    server.fails = ({ texts }) =>
      texts.join('').length > 512 ? { status: 400, body: { error: { message: 'maximum of 512 tokens' } } } : null;
    const vectors = await embeddingsOf({}).embedMany(['one', '绿'.repeat(6_000)]);
    expect(vectors.map((vector) => vector?.length)).toEqual([8, 8]);
  });

  it('are null while the server is down, and there once it is up', async () => {
    const { port } = server;
    await server.close();
    const own = embeddingsOf({});
    expect(await own.embedMany(['one', 'two', 'three'])).toEqual([null, null, null]);
    expect(await own.embed('one')).toBeNull();
    expect(own.outage).toBe(true);
    server = await ScriptedEmbedder.start(port);
    server.dimensions = 12;
    expect(await own.embed('one')).toEqual(vectorOf('one', 12));
    expect(own.outage).toBe(false);
  });

  it('stop after the first request that says the server is out of reach', async () => {
    server.fails = () => ({ status: 429 });
    await embeddingsOf({}).embedMany(Array.from({ length: 200 }, (_, index) => `text ${index}`));
    expect(server.requests).toHaveLength(1);
  });

  it('stop waiting for a server that hangs', async () => {
    const clock = { now: 0 };
    server.fails = () => ({ status: 200, delayMs: Infinity });
    const own = embeddingsOf({ timeout_seconds: 0.4 }, () => clock.now);
    for (let call = 0; call < 5; call += 1) expect(await own.embed('one')).toBeNull();
    expect(server.requests).toHaveLength(3);
    server.fails = () => null;
    expect(await own.embed('one')).toBeNull();
    clock.now = 10_000;
    expect(await own.embed('one')).not.toBeNull();
  });

  it('are given up when the caller gives up, which is nobody else’s outage', async () => {
    const caller = new AbortController();
    const hanging = await LoopbackServer.start(() => {
      caller.abort();
      return { status: 200, body: {}, delayMs: Infinity };
    });
    const own = embeddingsOf({ base_url: `${hanging.url}/v1` });
    let told = 0;
    own.onUnembedded(() => (told += 1));
    expect(await own.embedMany(['one', 'two'], caller.signal)).toEqual([null, null]);
    expect(own.outage).toBe(false);
    expect(told).toBe(0);
    await hanging.close();
  });

  it('send no half character', async () => {
    await embeddingsOf({}).embed(`${'x'.repeat(7_999)}😀\ud800`);
    expect(server.requests[0]!.texts).toEqual(['x'.repeat(7_999)]);
  });
});
