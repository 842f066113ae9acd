import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { QueryVectors } from '../src/core/retrieval/query-vectors.js';
import { ScopedSearch, type SearchRequest } from '../src/core/retrieval/scoped-search.js';
import { searchColumns } from '../src/core/retrieval/search-columns.js';
import { VectorIndex } from '../src/core/retrieval/vector-index.js';
import { Settings } from '../src/platform/config/settings.js';
import type { Embedder } from '../src/platform/embeddings/embedder.models.js';
import { Embeddings } from '../src/platform/embeddings/embeddings.js';
import { HashingEmbedder } from '../src/platform/embeddings/hashing.embedder.js';
import { testDatabase, type TestDatabase } from './support/database.js';

interface Memory {
  id: string;
  org: string;
  agent: string;
  content: string;
  conversation: string | null;
  at: Date;
  ttlUntil: Date | null;
  vector: number[] | null;
  model: string | null;
}

const org = randomUUID();
const agent = randomUUID();
let db: TestDatabase;
let clock = 0;

beforeAll(async () => {
  if (!process.env.TEST_LOG) Logger.overrideLogger(false);
  db = await testDatabase();
});

afterAll(() => db.close());

beforeEach(async () => {
  await db.reset();
  clock = 0;
});

afterEach(async () => {
  await Promise.all(indexes.splice(0).map((index) => index.settled()));
  await dropVectorIndexes();
});

const memory = (given: Partial<Memory>): Memory => ({
  id: randomUUID(),
  org,
  agent,
  content: 'a memory',
  conversation: null,
  at: new Date(1_700_000_000_000 + 1_000 * clock++),
  ttlUntil: null,
  vector: null,
  model: given.vector ? 'test' : null,
  ...given,
});

async function store(memories: readonly Memory[]): Promise<string[]> {
  const rows = memories.map(({ vector, ...row }) => ({
    ...row,
    ...searchColumns(row.content),
    hash: createHash('sha256').update(`${row.id}${row.content}`).digest('hex'),
    vector: vector && JSON.stringify(vector),
  }));
  await db.database.query(
    `insert into agent_diary (id, org_id, agent_id, kind, content, content_hash, ttl_until, source, conversation_id,
       metadata, observed_at, source_turn_ids, live, retrieval_count, search, search_length, embedding, embedding_model,
       created_at, updated_at)
     select id, org, agent, 'diary_long', content, hash, "ttlUntil", 'import', conversation, '{}', at, '[]', true, 0,
       to_tsvector('english', search), length, vector::vector, model, at, at
     from jsonb_to_recordset($1::jsonb) as given(id uuid, org uuid, agent uuid, content text, hash text,
       "ttlUntil" timestamptz, conversation text, search text, length int, vector text, model text, at timestamptz)`,
    [JSON.stringify(rows)],
  );
  return memories.map(({ id }) => id);
}

/** Knows the vectors of some texts and fails on all others. */
const knowing = (vectors: Record<string, number[]>, model = 'test'): Embedder => ({
  model,
  local: false,
  embed: async (texts) => {
    const found = texts.map((text) => vectors[text]);
    if (found.includes(undefined)) throw new Error('no vector for this text');
    return found as number[][];
  },
});

const indexes: VectorIndex[] = [];

function searchWith(embedder: Embedder | null, vectorIndex: 'exact' | 'hnsw' = 'exact'): ScopedSearch {
  const settings = new Settings();
  settings.retrieval.vector_index = vectorIndex;
  const index = new VectorIndex(db.connection, settings);
  indexes.push(index);
  const embeddings = new Embeddings(embedder, db.database);
  return new ScopedSearch(db.database, embeddings, new QueryVectors(embeddings), index, settings);
}

/** The first search has the index built behind its back. */
async function buildsIndex(search: ScopedSearch, request: Partial<SearchRequest>): Promise<void> {
  await idsOf(search, request);
  await Promise.all(indexes.map((index) => index.settled()));
}

async function idsOf(search: ScopedSearch, request: Partial<SearchRequest>): Promise<string[]> {
  const hits = await search.search({
    table: 'agent_diary',
    orgId: org,
    agentId: agent,
    query: null,
    arms: {},
    limit: 10,
    ...request,
  });
  return hits.map(({ id }) => id);
}

const lexical = (query: string, request: Partial<SearchRequest> = {}): Promise<string[]> =>
  idsOf(searchWith(null), { query, arms: { lexical: 10 }, ...request });

const indexNames = async (): Promise<string[]> => {
  const found = await db.database.query<{ name: string }>(
    `select indexname as name from pg_indexes where schemaname = 'public' order by indexname`,
  );
  return found.map(({ name }) => name);
};

const vectorIndexes = async (): Promise<{ name: string; valid: boolean }[]> =>
  db.database.query(
    `select indexname as name, indisvalid as valid from pg_indexes
     join pg_index on indexrelid = format('%I.%I', schemaname, indexname)::regclass
     where schemaname = 'public' and indexdef like '%hnsw%'`,
  );

async function dropVectorIndexes(): Promise<void> {
  for (const { name } of await vectorIndexes()) await db.database.query(`drop index ${name}`);
}

describe('the lexical arm', () => {
  it.each([
    ['Chinese', '客户喜欢简短的回复', '简短'],
    ['Japanese', 'お客様は短い返信を好みます', '返信'],
    ['Korean', '고객은 서울에서 회의를 원합니다', '서울'],
    ['Thai', 'ลูกค้าชอบคำตอบสั้นๆ', 'ลูกค้า'],
    ['Arabic', 'العميل يفضل الردود القصيرة', 'الردود'],
    ['Russian', 'Клиент предпочитает короткие ответы', 'ответы'],
    ['Hindi', 'ग्राहक छोटे उत्तर पसंद करता है', 'उत्तर'],
    ['German', 'Der Kunde möchte kurze Antworten', 'moechte Antworten'],
    ['an identifier', 'Opened PR-123 for user_id, see bob@example.com', 'pr123'],
    ['a language', 'Written in C# for the most part', 'c#'],
  ])('finds a word of a sentence in %s', async (_language, content, query) => {
    const [id] = await store([memory({ content }), memory({ content: 'something else altogether' })]);
    expect(await lexical(query)).toEqual([id]);
  });

  it('finds the last word of a memory of 100,000 characters', async () => {
    const content = `${'lorem ipsum dolor sit amet '.repeat(3_700)} xylophone`;
    const [id] = await store([memory({ content }), memory({ content: 'a violin' })]);
    expect(await lexical('xylophone')).toEqual([id]);
  });

  it('takes memories with more words than a tsvector holds positions for', async () => {
    const words = Array.from({ length: 60_000 }, (_, index) => (index * 7_919).toString(36));
    const [id] = await store([memory({ content: words.join(' ') })]);
    expect(await lexical(words[5]!)).toEqual([id]);
  });

  it.each([
    ['stop words', 'the and of'],
    ['signs', '?! …'],
    ['nothing', ''],
    ['emoji', '🚀'],
    ['operators', '& | ! <-> :* \' " \\'],
  ])('names nothing for a query of %s', async (_what, query) => {
    await store([memory({})]);
    expect(await lexical(query)).toEqual([]);
  });

  it('takes a query of 5,000 characters with quotes and backslashes', async () => {
    const [id] = await store([memory({ content: 'deploy on friday' })]);
    expect(await lexical(`deploy \\ ' " ${'x\\y\'z" '.repeat(900)}`)).toEqual([id]);
  });

  it('lends words within a conversation, whatever its id holds and whoever writes in between', async () => {
    const [asked, answered, , apart] = await store([
      memory({ content: 'Which colour for the kayak?', conversation: 'a,b;\nc' }),
      memory({ content: 'Turquoise, please', conversation: 'a,b;\nc', at: new Date(1_800_000_000_000) }),
      memory({ content: 'Fine weather', conversation: 'other' }),
      memory({ content: 'Lunch at noon', conversation: null }),
    ]);
    const found = await lexical('kayak colour');
    expect(found).toEqual([asked, answered]);
    expect(found).not.toContain(apart);
  });
});

describe('the vector arm', () => {
  const dimensions = 16;
  /** The same vectors in every run (a linear congruential generator). */
  const vectors = (seed: number, count: number): number[][] => {
    let state = seed >>> 0;
    const next = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 31 - 1;
    };
    return Array.from({ length: count }, () => Array.from({ length: dimensions }, next));
  };
  const cosine = (a: readonly number[], b: readonly number[]): number => {
    const dot = (x: readonly number[], y: readonly number[]): number =>
      x.reduce((sum, value, i) => sum + value * y[i]!, 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };

  /** Rows of many agents, and for each agent the ids of the ten that brute force finds nearest to `query`. */
  const crowd = async (
    agents: number,
    rowsEach: number,
  ): Promise<{ query: number[]; nearest: Map<string, string[]> }> => {
    const [query] = vectors(4_711, 1);
    const nearest = new Map<string, string[]>();
    for (let index = 0; index < agents; index++) {
      const owner = randomUUID();
      const rows = vectors(index, rowsEach).map((vector) => memory({ agent: owner, vector }));
      await store(rows);
      const sorted = rows.sort((a, b) => cosine(query!, b.vector!) - cosine(query!, a.vector!));
      nearest.set(
        owner,
        sorted.slice(0, 10).map(({ id }) => id),
      );
    }
    return { query: query!, nearest };
  };

  it('answers for each of 100 agents with 100 rows the ten nearest, those of brute force', async () => {
    const { query, nearest } = await crowd(100, 100);
    const search = searchWith(knowing({ needle: query }));
    for (const [owner, expected] of nearest) {
      expect(await idsOf(search, { agentId: owner, query: 'needle', arms: { vector: 10 } })).toEqual(expected);
    }
  });

  it('answers ten rows from the approximate index too, however few of the table are the agent’s', async () => {
    const { query, nearest } = await crowd(40, 30);
    const search = searchWith(knowing({ needle: query }), 'hnsw');
    await buildsIndex(search, { query: 'needle', arms: { vector: 10 } });
    expect(await vectorIndexes()).toEqual([expect.objectContaining({ valid: true })]);
    let right = 0;
    for (const [owner, expected] of nearest) {
      const found = await idsOf(search, { agentId: owner, query: 'needle', arms: { vector: 10 } });
      expect(new Set(found).size).toBe(10);
      right += found.filter((id) => expected.includes(id)).length;
    }
    expect(right / (10 * nearest.size)).toBeGreaterThan(0.9);
  });

  it('is built anew where a build was broken off, and once by two who begin at the same time', async () => {
    const rows = await store([memory({ content: 'tea', vector: [1, 0, 0] })]);
    const request = { query: 'tea', arms: { vector: 10 } };
    const searches = [searchWith(knowing({ tea: [1, 0, 0] }), 'hnsw'), searchWith(knowing({ tea: [1, 0, 0] }), 'hnsw')];
    await Promise.all(searches.map((search) => buildsIndex(search, request)));
    for (const search of searches) expect(await idsOf(search, request)).toEqual(rows);
    const [index] = await vectorIndexes();
    await db.database.query(`update pg_index set indisvalid = false where indexrelid = '${index!.name}'::regclass`);
    const search = searchWith(knowing({ tea: [1, 0, 0] }), 'hnsw');
    await buildsIndex(search, request);
    expect(await vectorIndexes()).toEqual([{ name: index!.name, valid: true }]);
    expect(await idsOf(search, request)).toEqual(rows);
  });

  it('goes when searches are exact again, and nothing else does', async () => {
    const rows = await store([memory({ content: 'tea', vector: [1, 0, 0] })]);
    const request = { query: 'tea', arms: { vector: 10 } };
    await buildsIndex(searchWith(knowing({ tea: [1, 0, 0] }), 'hnsw'), request);
    expect(await vectorIndexes()).toHaveLength(1);
    const others = await indexNames();
    const exact = new VectorIndex(db.connection, new Settings());
    exact.onApplicationBootstrap();
    await exact.settled();
    expect(await vectorIndexes()).toEqual([]);
    expect(await indexNames()).toEqual(others.filter((name) => !/_embedding_[0-9a-f]{12}$/.test(name)));
    expect(await idsOf(searchWith(knowing({ tea: [1, 0, 0] })), request)).toEqual(rows);
  });

  it('compares only vectors of the current model and length, and the other arms still find the rest', async () => {
    const [current, old, none, longer] = await store([
      memory({ content: 'tea', vector: [1, 0, 0] }),
      memory({ content: 'tea too', vector: [1, 0], model: 'old' }),
      memory({ content: 'tea as well' }),
      memory({ content: 'tea again', vector: [1, 0, 0, 0] }),
    ]);
    for (const index of ['exact', 'hnsw'] as const) {
      const search = searchWith(knowing({ tea: [1, 0, 0] }), index);
      await buildsIndex(search, { query: 'tea', arms: { vector: 10 } });
      expect(await idsOf(search, { query: 'tea', arms: { vector: 10 } })).toEqual([current]);
      const all = await idsOf(search, { query: 'tea', arms: { vector: 10, lexical: 10 } });
      expect(new Set(all)).toEqual(new Set([current, old, none, longer]));
      expect(all[0]).toBe(current);
    }
    // rows of other lengths are still taken beside the index
    await store([memory({ vector: [1, 2, 3, 4, 5] }), memory({ vector: [1], model: 'next' })]);
  });

  it('is empty where the query cannot be embedded', async () => {
    const [id] = await store([memory({ content: 'tea', vector: [1, 0, 0] })]);
    expect(await idsOf(searchWith(knowing({})), { query: 'tea', arms: { vector: 10 } })).toEqual([]);
    expect(await idsOf(searchWith(knowing({})), { query: 'tea', arms: { vector: 10, lexical: 10 } })).toEqual([id]);
    expect(await idsOf(searchWith(null), { query: 'tea', arms: { vector: 10 } })).toEqual([]);
    expect(await idsOf(searchWith(new HashingEmbedder(32)), { query: ' \n', arms: { vector: 10 } })).toEqual([]);
  });

  it('embeds a query once that comes again, and tries anew what failed', async () => {
    const [id] = await store([memory({ content: 'x', vector: [1, 0, 0] })]);
    const asked: string[] = [];
    let broken = true;
    const embedder = knowing({ tea: [1, 0, 0] });
    const search = searchWith({
      ...embedder,
      embed: async (texts, signal) => {
        asked.push(...texts);
        if (broken) throw new Error('down');
        return embedder.embed(texts, signal);
      },
    });
    const request = { query: 'tea', arms: { vector: 10 } };
    expect(await idsOf(search, request)).toEqual([]);
    broken = false;
    for (let time = 0; time < 3; time++) expect(await idsOf(search, request)).toEqual([id]);
    expect(asked).toEqual(['tea', 'tea']);
  });

  it('is never asked for inside a transaction', async () => {
    const search = searchWith(knowing({ tea: [1, 0, 0] }));
    await expect(db.database.transaction(() => idsOf(search, { query: 'tea', arms: { vector: 10 } }))).rejects.toThrow(
      'inside a transaction',
    );
  });
});

describe('all arms', () => {
  const everything: Partial<SearchRequest> = {
    query: 'tea',
    arms: { vector: 100, lexical: 100, recency: 100 },
    limit: 100,
  };
  const tea = knowing({ tea: [1, 0] });

  it('see the rows of one agent of one organisation alone', async () => {
    const owners = [
      { org, agent },
      { org, agent: randomUUID() },
      { org: randomUUID(), agent },
    ];
    const ids = await store(owners.map((owner) => memory({ ...owner, content: 'tea', vector: [1, 0] })));
    for (const [index, owner] of owners.entries()) {
      expect(await idsOf(searchWith(tea), { ...everything, orgId: owner.org, agentId: owner.agent })).toEqual([
        ids[index],
      ]);
    }
  });

  it('leave out what the condition leaves out, and do not let it lend', async () => {
    const now = new Date(1_750_000_000_000);
    const [expired, next, live] = await store([
      memory({ content: 'tea', ttlUntil: now, vector: [1, 0], conversation: 'c' }),
      memory({ content: 'milk', conversation: 'c' }),
      memory({ content: 'tea at five', ttlUntil: new Date(now.getTime() + 1), vector: [1, 0.1] }),
    ]);
    const where = {
      sql: `live and (ttl_until is null or ttl_until > $now) and $now::timestamptz is not null`,
      parameters: { now },
    };
    const search = searchWith(tea);
    expect(await idsOf(search, { ...everything, where })).toEqual([live, next]);
    expect(await idsOf(search, { ...everything, where, arms: { vector: 9, lexical: 9 } })).toEqual([live]);
    expect(await idsOf(search, { ...everything })).toContain(expired);
    await expect(idsOf(search, { ...everything, where: { sql: 'kind = $kind', parameters: {} } })).rejects.toThrow(
      '$kind',
    );
  });

  it('are fused, and say which of them named a row', async () => {
    const [both, word, near, newest] = await store([
      memory({ content: 'tea', vector: [1, 0] }),
      memory({ content: 'a cup of tea' }),
      memory({ content: 'infusion', vector: [0.9, 0.1] }),
      memory({ content: 'chess' }),
    ]);
    const hits = await searchWith(tea).search({
      table: 'agent_diary',
      orgId: org,
      agentId: agent,
      query: 'tea',
      arms: { vector: 5, lexical: 5, recency: 1 },
      limit: 10,
    });
    expect(Object.fromEntries(hits.map((hit) => [hit.id, hit.arms]))).toEqual({
      [both!]: ['vector', 'lexical'],
      [word!]: ['lexical'],
      [near!]: ['vector'],
      [newest!]: ['recency'],
    });
    expect(hits[0]?.id).toBe(both);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  it('give at most `limit` rows, and the newest first where there is no query', async () => {
    const ids = await store([memory({}), memory({}), memory({})]);
    expect(await idsOf(searchWith(null), { query: null, arms: { recency: 2, lexical: 5, vector: 5 } })).toEqual([
      ids[2],
      ids[1],
    ]);
    expect(await idsOf(searchWith(null), { query: null, arms: { recency: 3 }, limit: 1 })).toEqual([ids[2]]);
  });

  it('leave out, on request, what only the vector arm names and is not near', async () => {
    const [near, , far, said] = await store([
      memory({ content: 'infusion', vector: [0.9, 0.1] }),
      memory({ content: 'opposite', vector: [-1, 0] }),
      memory({ content: 'right angle', vector: [0, 1] }),
      memory({ content: 'tea', vector: [-1, 0] }),
    ]);
    for (const index of ['exact', 'hnsw'] as const) {
      const request = { query: 'tea', arms: { vector: 9, lexical: 9 } };
      const search = searchWith(tea, index);
      await buildsIndex(search, request);
      expect(new Set(await idsOf(search, { ...request, relatedOnly: true }))).toEqual(new Set([near, said]));
      expect(await idsOf(search, request)).toHaveLength(4);
      const newest = { ...request, arms: { vector: 9, recency: 2 }, relatedOnly: true };
      expect(new Set(await idsOf(search, newest))).toEqual(new Set([near, far, said]));
    }
  });

  it('search episodes by the time of their turn', async () => {
    const add = async (startedAt: string, text: string): Promise<string> => {
      const id = randomUUID();
      const { search, length } = searchColumns(text);
      await db.database.query(
        `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, kind, count, task_summary,
           plan_summary, plan_decision, engaged, tool_sequence, skills_used, review_outcome, ended_at, duration_ms, work_key,
           subjects_involved, exemplar_turn_ids, is_exemplar, source_turn_ids, search, search_length, embedding,
           embedding_model, created_at)
         values ($1, $2, $3, $4, 'a', 'r', 'raw', 1, $5, '', 'plan', true, '[]', '[]', 'done', $2, 0, '', '[]', '[]', false,
           '[]', to_tsvector('english', $6), $7, '[1,0]'::vector, 'test', now())`,
        [id, new Date(startedAt), org, agent, text, search, length],
      );
      return id;
    };
    const late = await add('2025-03-01T00:00:00Z', 'brewed tea');
    const early = await add('2023-03-01T00:00:00Z', 'poured water');
    const request: Partial<SearchRequest> = { ...everything, table: 'episodes' };
    expect(await idsOf(searchWith(null), { ...request, query: null })).toEqual([late, early]);
    expect(await idsOf(searchWith(null), { ...request, arms: { lexical: 5 } })).toEqual([late]);
    for (const index of ['exact', 'hnsw'] as const) {
      const search = searchWith(tea, index);
      await buildsIndex(search, { ...request, arms: { vector: 5 } });
      expect(new Set(await idsOf(search, { ...request, arms: { vector: 5 } }))).toEqual(new Set([late, early]));
    }
    expect(await vectorIndexes()).toEqual([expect.objectContaining({ valid: true })]);
  });
});
