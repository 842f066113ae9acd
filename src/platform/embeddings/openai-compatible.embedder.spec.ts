import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScriptedEmbedder, vectorOf } from '../../../test/support/scripted-embedder.js';
import type { EmbeddingError } from './embedder.models.js';
import { embeddingText } from './embedding-text.js';
import { type EmbeddingServerOptions, OpenAiCompatibleEmbedder } from './openai-compatible.embedder.js';

let server: ScriptedEmbedder;
beforeEach(async () => {
  server = await ScriptedEmbedder.start();
});
afterEach(() => server.close());

function embedder(options: Partial<EmbeddingServerOptions> = {}): OpenAiCompatibleEmbedder {
  return new OpenAiCompatibleEmbedder({
    model: 'e-1',
    baseUrl: server.url,
    timeoutSeconds: 5,
    maxRetries: 0,
    ...options,
  });
}

async function faultOf(call: Promise<unknown>): Promise<EmbeddingError> {
  return call.then(
    () => {
      throw new Error('the call did not fail');
    },
    (error: unknown) => error as EmbeddingError,
  );
}

describe('the openai_compatible embedder', () => {
  it('embeds texts in order', async () => {
    const own = embedder();
    expect(own.model).toBe('e-1');
    expect(await own.embed(['one', 'two'])).toEqual([vectorOf('one', 8), vectorOf('two', 8)]);
    expect(await own.embed([])).toEqual([]);
    expect(server.requests).toEqual([{ texts: ['one', 'two'], model: 'e-1', dimensions: undefined }]);
  });

  it('goes by the index of what comes back', async () => {
    server.fails = ({ texts }) => {
      const data = texts.map((text, index) => ({ index, embedding: vectorOf(text, 8) })).reverse();
      return { status: 200, body: { data } };
    };
    expect(await embedder().embed(['one', 'two'])).toEqual([vectorOf('one', 8), vectorOf('two', 8)]);
  });

  it('asks for the dimensions of the settings and holds the server to them', async () => {
    const own = embedder({ dimensions: 4 });
    expect(own.model).toBe('e-1@4');
    expect((await own.embed(['one']))[0]).toHaveLength(4);
    server.mangle = () => [[1, 2, 3]];
    expect(await faultOf(own.embed(['one']))).toMatchObject({ message: 'a vector has 3 dimensions instead of 4' });
  });

  it('assumes no dimension before the first vector came', async () => {
    const own = embedder();
    server.fails = () => ({ status: 503 });
    await faultOf(own.embed(['one']));
    server.fails = () => null;
    server.dimensions = 16;
    expect((await own.embed(['one']))[0]).toHaveLength(16);
    server.dimensions = 8;
    expect(await faultOf(own.embed(['one']))).toMatchObject({ fault: 'input' });
  });

  it.each<[string, unknown[]]>([
    ['too few vectors', []],
    ['null in a vector', [[1, null]]],
    ['text in a vector', [['1', '2']]],
    ['an empty vector', [[]]],
    ['no vector', [null]],
    ['zeros', [[0, 0, 0]]],
    ['zeros once stored', [[1e-60, 0]]],
    ['what no 32-bit float holds', [[1e39, 1]]],
    ['more dimensions than can be stored', [new Array<number>(16_001).fill(1)]],
  ])('refuses %s', async (_name, vectors) => {
    server.mangle = () => vectors;
    expect(await faultOf(embedder().embed(['one']))).toMatchObject({ name: 'EmbeddingError', fault: 'input' });
  });

  it('refuses vectors of different lengths', async () => {
    server.mangle = () => [[1, 2], [1]];
    expect(await faultOf(embedder().embed(['one', 'two']))).toMatchObject({ fault: 'input' });
  });

  it.each<[number, string]>([
    [400, 'input'],
    [413, 'input'],
    [500, 'input'],
    [401, 'unreachable'],
    [404, 'unreachable'],
    [429, 'unreachable'],
    [502, 'unreachable'],
    [503, 'unreachable'],
  ])('takes a %i for %s', async (status, fault) => {
    server.fails = () => ({ status });
    expect(await faultOf(embedder().embed(['one']))).toMatchObject({ fault });
    expect(server.requests).toHaveLength(1);
  });

  it('takes anything else than a list for a server out of reach', async () => {
    server.fails = () => ({ status: 200, body: {} });
    expect(await faultOf(embedder().embed(['one']))).toMatchObject({ fault: 'unreachable' });
    await server.close();
    expect(await faultOf(embedder().embed(['one']))).toMatchObject({ fault: 'unreachable' });
  });

  it('does not wait for a server that hangs', async () => {
    server.fails = () => ({ status: 200, delayMs: Infinity });
    expect(await faultOf(embedder({ timeoutSeconds: 0.1 }).embed(['one']))).toMatchObject({ fault: 'timeout' });
  });

  describe('with a limit of tokens', () => {
    beforeEach(() => {
      // one token a character, as it is for Chinese
      server.fails = ({ texts }) =>
        texts.some((text) => text.length > 512)
          ? { status: 400, body: { error: { message: "This model's maximum context length is 512 tokens." } } }
          : null;
    });

    it('shortens 6,000 Chinese characters until they fit', async () => {
      const [vector] = await embedder().embed([embeddingText('我喜欢绿茶。'.repeat(1_000))]);
      expect(vector).toHaveLength(8);
      expect(server.requests.map(({ texts }) => texts[0]!.length)).toEqual([6_000, 3_000, 1_500, 750, 375]);
    });

    it('never cuts through a character', async () => {
      await embedder().embed(['😀'.repeat(301)]);
      expect(server.requests.map(({ texts }) => texts[0]!.length)).toEqual([602, 300]);
      expect(server.requests[1]!.texts[0]!.isWellFormed()).toBe(true);
    });

    it('leaves a batch to its caller, and gives up where length is not the reason', async () => {
      expect(await faultOf(embedder().embed(['x'.repeat(600), 'y']))).toMatchObject({ fault: 'input' });
      server.fails = () => ({ status: 401, body: { error: { message: 'invalid token' } } });
      server.requests.length = 0;
      expect(await faultOf(embedder().embed(['x'.repeat(600)]))).toMatchObject({ fault: 'unreachable' });
      expect(server.requests).toHaveLength(1);
    });
  });
});
