// node --import ./test/support/typescript.mjs bench/retrieval.ts
// What share of the evidence of LoCoMo's questions the search finds, one agent a conversation, and how long it takes.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { ScopedSearch, type SearchArm } from '../src/core/retrieval/scoped-search.js';
import { searchColumns } from '../src/core/retrieval/search-columns.js';
import { VectorIndex } from '../src/core/retrieval/vector-index.js';
import { Settings } from '../src/platform/config/settings.js';
import { Database } from '../src/platform/database/database.js';
import { startDatabase } from '../src/platform/database/start-database.js';
import { Embeddings } from '../src/platform/embeddings/embeddings.js';
import { HashingEmbedder } from '../src/platform/embeddings/hashing.embedder.js';

const FILE = new URL('../../shared/data/locomo/locomo-dev5.json', import.meta.url);
const ORG = randomUUID();

interface Turn {
  dia_id: string;
  speaker: string;
  text: string;
  blip_caption?: string;
}

interface Sample {
  conversation: Record<string, Turn[] | string>;
  qa: { question: string; evidence?: string[] }[];
}

interface Question {
  agentId: string;
  text: string;
  /** Ids of the rows that answer it. */
  evidence: string[];
}

type Arms = Partial<Record<SearchArm, number>>;

const SETTINGS: readonly { name: string; arms: Arms; limit: number }[] = [
  { name: 'lexical, first 10', arms: { lexical: 10 }, limit: 10 },
  { name: 'built-in vectors, first 10', arms: { vector: 10 }, limit: 10 },
  { name: 'lexical and vector, first 10', arms: { lexical: 40, vector: 40 }, limit: 10 },
  { name: 'vector and recency, pool of 100', arms: { vector: 50, recency: 50 }, limit: 100 },
  {
    name: 'lexical 50, vector 50, recency 50, pool of 100',
    arms: { lexical: 50, vector: 50, recency: 50 },
    limit: 100,
  },
  {
    name: 'lexical 70, vector 50, recency 30, pool of 100',
    arms: { lexical: 70, vector: 50, recency: 30 },
    limit: 100,
  },
  { name: 'lexical, pool of 100', arms: { lexical: 100 }, limit: 100 },
];

if (existsSync(FILE)) await measure(JSON.parse(readFileSync(FILE, 'utf8')) as Sample[]);
else console.log('skipped: ../shared/data/locomo is absent');

async function measure(samples: readonly Sample[]): Promise<void> {
  const { dataSource, stop } = await startDatabase({ dataDir: 'memory://', entities: [] });
  const database = new Database(dataSource);
  const embeddings = new Embeddings(new HashingEmbedder(), database);
  const search = new ScopedSearch(database, embeddings, new VectorIndex(database), new Settings());
  try {
    const questions: Question[] = [];
    for (const sample of samples) questions.push(...(await load(database, embeddings, sample)));
    await database.query('analyze agent_diary');
    console.log(`${questions.length} questions on ${samples.length} conversations`);
    for (const { name, arms, limit } of SETTINGS) {
      let found = 0;
      const times: number[] = [];
      for (const { agentId, text, evidence } of questions) {
        const start = performance.now();
        const hits = await search.search({ table: 'agent_diary', orgId: ORG, agentId, query: text, arms, limit });
        times.push(performance.now() - start);
        const ids = new Set(hits.map(({ id }) => id));
        found += evidence.filter((id) => ids.has(id)).length / evidence.length;
      }
      times.sort((a, b) => a - b);
      const [p50, p95] = [0.5, 0.95].map((part) => times[Math.floor(part * times.length)]!.toFixed(1));
      console.log(
        `${((100 * found) / questions.length).toFixed(1).padStart(5)} %  p50 ${p50} ms  p95 ${p95} ms  ${name}`,
      );
    }
  } finally {
    await stop();
  }
}

async function load(database: Database, embeddings: Embeddings, sample: Sample): Promise<Question[]> {
  const agentId = randomUUID();
  const ids = new Map<string, string>();
  const rows = sessionsOf(sample).flatMap(([session, turns]) =>
    turns.map((turn) => {
      const id = randomUUID();
      ids.set(turn.dia_id, id);
      const content = `${turn.speaker}: ${turn.text}${turn.blip_caption ? ` [image: ${turn.blip_caption}]` : ''}`;
      return { id, session, content, ...searchColumns(content) };
    }),
  );
  const vectors = await embeddings.embedMany(rows.map(({ content }) => content));
  const given = rows.map((row, index) => ({
    ...row,
    at: new Date(1_700_000_000_000 + 1_000 * index),
    vector: JSON.stringify(vectors[index]),
  }));
  await database.query(
    `insert into agent_diary (id, org_id, agent_id, kind, content, content_hash, source, conversation_id, metadata,
       source_turn_ids, live, retrieval_count, search, search_length, embedding, embedding_model, created_at, updated_at)
     select id, $2, $3, 'diary_long', content, id::text, 'import', session, '{}', '[]', true, 0,
       to_tsvector('english', search), length, vector::vector, $4, at, at
     from jsonb_to_recordset($1::jsonb) as given(id uuid, content text, session text, search text, length int,
       vector text, at timestamptz)`,
    [JSON.stringify(given), ORG, agentId, embeddings.model],
  );
  return sample.qa.flatMap(({ question, evidence = [] }) => {
    const named = evidence.flatMap((entry) => entry.match(/D\d+:\d+/g) ?? []);
    const known = new Set(named.flatMap((id) => ids.get(id.replace(/:0+(?=\d)/, ':')) ?? []));
    return known.size > 0 ? [{ agentId, text: question, evidence: [...known] }] : [];
  });
}

function sessionsOf({ conversation }: Sample): [string, Turn[]][] {
  return Object.entries(conversation)
    .filter((entry): entry is [string, Turn[]] => /^session_\d+$/.test(entry[0]) && Array.isArray(entry[1]))
    .sort(([a], [b]) => Number(a.slice(8)) - Number(b.slice(8)));
}
