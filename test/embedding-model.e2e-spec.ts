import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type AppOptions, type TestApp } from './support/app.js';
import { eventually, memoriesOf, register, remember } from './support/requests.js';
import { ScriptedEmbedder } from './support/scripted-embedder.js';

const CONTENTS = ['Ana prefers short summaries.', 'The warehouse closes at six.', 'Refunds need an invoice number.'];

/** Vectors this short collide, so that others may follow. */
const firstOf = async (test: TestApp, word: string): Promise<unknown> =>
  (await memoriesOf(test.http, 'keeper', `?q=${word}`))[0];

const modelsOf = async (test: TestApp): Promise<string[]> => {
  const rows = await test.database.query<{ model: string | null; size: number | null }>(
    `select embedding_model as model, vector_dims(embedding) as size from agent_diary order by created_at`,
  );
  return rows.map(({ model, size }) => `${model} ${size}`);
};

describe('another embedding model between two boots', () => {
  const boot = (embeddings: Record<string, unknown>, keepData = true): Promise<TestApp> =>
    startApp({ config: { embeddings }, keepData } satisfies AppOptions);

  it('is taken over row by row while every search answers', async () => {
    const before = await boot({ provider: 'hashing' }, false);
    await register(before.http, 'keeper');
    for (const content of CONTENTS) await remember(before.http, 'keeper', content);
    expect(await modelsOf(before)).toEqual(CONTENTS.map(() => 'hashing-v1-384 384'));
    await before.close();

    const after = await boot({ provider: 'hashing', dimensions: 64 });
    try {
      expect(await firstOf(after, 'invoice')).toMatchObject({ content: CONTENTS[2] });
      await remember(after.http, 'keeper', 'Deliveries arrive on Mondays.');
      expect(await firstOf(after, 'deliveries')).toMatchObject({ content: 'Deliveries arrive on Mondays.' });
      await eventually(
        () => modelsOf(after),
        (models) => models.every((model) => model === 'hashing-v1-64 64'),
      );
      expect(await firstOf(after, 'summaries')).toMatchObject({ content: CONTENTS[0], embedded: true });
    } finally {
      await after.close();
    }
  });
});

describe('an embeddings server that is down at boot', () => {
  let embedder: ScriptedEmbedder;
  let test: TestApp;

  beforeAll(async () => {
    embedder = await ScriptedEmbedder.start();
    await embedder.close();
    const embeddings = { provider: 'openai_compatible', model: 'e-1', base_url: embedder.url, max_retries: 0 };
    test = await startApp({ config: { embeddings } });
  });

  afterAll(async () => {
    await test.close();
    await embedder.close();
  });

  it('sets no wrong default: what was written meanwhile is embedded once it is up', async () => {
    await register(test.http, 'keeper');
    expect(await remember(test.http, 'keeper', CONTENTS[0]!)).toMatchObject({ embedded: false });
    expect(await firstOf(test, 'summaries')).toMatchObject({ content: CONTENTS[0] });
    embedder = await ScriptedEmbedder.start(embedder.port);
    await test.http.post('/jobs/embed-missing').expect(202);
    await eventually(
      () => memoriesOf(test.http, 'keeper'),
      ([memory]) => memory?.embedded === true,
    );
    expect(await modelsOf(test)).toEqual([expect.stringMatching(/^e-1 \d+$/)]);
  });
});
