import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Database } from '../database/database.js';
import { JobHandlers } from '../jobs/job-handlers.js';
import type { JobContext, JobRequest } from '../jobs/job.models.js';
import type { Jobs } from '../jobs/jobs.js';
import { EmbedMissingJob } from './embed-missing.job.js';
import { type Embedder, EmbeddingError, type EmbeddingFault } from './embedder.models.js';
import { Embeddings } from './embeddings.js';
import { EmbeddedTables, type EmbeddedRows, EmbedMissing, type UnembeddedRow } from './reembedding.js';

interface Row {
  id: string;
  text: string;
  embedding: number[] | null;
  model: string | null;
}

class MemoryTable implements EmbeddedRows {
  constructor(
    readonly table: string,
    readonly rows: Row[],
  ) {}

  readonly asked: (string | undefined)[] = [];

  async backlog(model: string, most: number): Promise<number> {
    return (await this.missing(model, most)).length;
  }

  async missing(model: string, limit: number, after?: { id: string }): Promise<UnembeddedRow[]> {
    this.asked.push(after?.id);
    const start = after ? this.rows.findIndex(({ id }) => id === after.id) + 1 : 0;
    return this.rows
      .slice(start)
      .filter((row) => row.model !== model)
      .slice(0, limit)
      .map(({ id, text, model: embedding_model }) => ({ id, text, embedding_model }));
  }

  async save(rows: { id: string; embedding: number[] }[], model: string): Promise<void> {
    for (const { id, embedding } of rows)
      Object.assign(
        this.rows.find((row) => row.id === id)!,
        { embedding, model },
      );
  }
}

function rowsOf(count: number, text: (index: number) => string = (index) => `text ${index}`): Row[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    text: text(index),
    embedding: null,
    model: null,
  }));
}

/** Fails for every text that holds the name of a fault. */
const embedder: Embedder = {
  model: 'e-2',
  local: true,
  embed: async (texts) => {
    const fault = ['input', 'unreachable'].find((name) => texts.some((text) => text.includes(name)));
    if (fault) throw new EmbeddingError(fault as EmbeddingFault, 'scripted');
    return texts.map((text) => [text.length, 1]);
  },
};

function setUp(tables: EmbeddedRows[], by: Embedder | null = embedder) {
  const registry = new EmbeddedTables();
  tables.forEach((table) => registry.register(table));
  const embeddings = new Embeddings(by, new Database(new DataSource({ type: 'postgres' })));
  const embedMissing = new EmbedMissing(registry, embeddings);
  const requests: JobRequest[] = [];
  const jobs = { enqueue: async (request: JobRequest) => `${requests.push(request)}` } as unknown as Jobs;
  const handlers = new JobHandlers();
  const job = new EmbedMissingJob(embedMissing, embeddings, jobs, handlers);
  job.onModuleInit();
  return { embeddings, embedMissing, job, requests, handlers };
}

const context: JobContext = { attempt: 1, maxAttempts: 25, signal: new AbortController().signal };

describe('re-embedding', () => {
  it('gives every row of every table a vector of the current model', async () => {
    const old = rowsOf(130).map((row) => ({ ...row, embedding: [1, 2, 3], model: 'e-1' }));
    const tables = [new MemoryTable('episodes', rowsOf(3)), new MemoryTable('agent_diary', old)];
    const { embedMissing } = setUp(tables);
    expect(await embedMissing.pending()).toEqual(['episodes', 'agent_diary']);
    expect(await embedMissing.run()).toEqual({ embedded: 133, failed: 0 });
    expect(tables.flatMap(({ rows }) => rows).every((row) => row.model === 'e-2' && row.embedding!.length === 2)).toBe(
      true,
    );
    expect(await embedMissing.pending()).toEqual([]);
    expect(await embedMissing.run()).toEqual({ embedded: 0, failed: 0 });
  });

  it('leads past rows that cannot be embedded', async () => {
    const table = new MemoryTable(
      'episodes',
      rowsOf(200, (index) => (index < 60 ? `input ${index}` : `text ${index}`)),
    );
    const { embedMissing } = setUp([table]);
    expect(await embedMissing.run()).toEqual({ embedded: 140, failed: 60 });
    // Each look goes on where the one before ended.
    expect(table.asked).toEqual([undefined, '63', '127', '191', '199']);
  });

  it('ends where the server is out of reach', async () => {
    const tables = [
      new MemoryTable(
        'a',
        rowsOf(500, () => 'unreachable'),
      ),
      new MemoryTable('b', rowsOf(1)),
    ];
    const { embedMissing } = setUp(tables);
    expect(await embedMissing.run()).toEqual({ embedded: 0, failed: 64 });
  });

  it('ends when it is told to', async () => {
    const { embedMissing } = setUp([new MemoryTable('a', rowsOf(3))]);
    expect(await embedMissing.run(AbortSignal.abort())).toEqual({ embedded: 0, failed: 0 });
  });

  it('has nothing to do where nothing is embedded', async () => {
    const { embedMissing } = setUp([new MemoryTable('a', rowsOf(3))], null);
    expect(await embedMissing.pending()).toEqual([]);
    expect(await embedMissing.run()).toEqual({ embedded: 0, failed: 0 });
  });
});

describe('the job embed-missing', () => {
  it('is asked for at boot where rows wait, and only there', async () => {
    const waiting = setUp([new MemoryTable('a', rowsOf(1))]);
    waiting.job.onApplicationBootstrap();
    await waiting.job.onModuleDestroy();
    const org_id = '00000000-0000-0000-0000-000000000000';
    expect(waiting.requests).toEqual([{ task: 'embed-missing', key: 'embed-missing', payload: { org_id } }]);
    expect(waiting.handlers.get('embed-missing')).toBe(waiting.job);
    expect(await waiting.job.schedule.due()).toHaveLength(1);

    const done = setUp([new MemoryTable('a', [])]);
    done.job.onApplicationBootstrap();
    await done.job.onModuleDestroy();
    expect(done.requests).toEqual([]);
    expect(await done.job.schedule.due()).toEqual([]);
  });

  it('keeps nobody waiting at boot, nor a database that fails from serving', async () => {
    let fail = (_error: Error): void => undefined;
    const slow = new MemoryTable('a', []);
    slow.missing = () => new Promise((_resolve, reject) => (fail = reject));
    const { job, requests } = setUp([slow]);
    expect(job.onApplicationBootstrap()).toBeUndefined();
    fail(new Error('gone'));
    await job.onModuleDestroy();
    expect(requests).toEqual([]);
  });

  it('is asked for after a write that failed, once for many', async () => {
    const { embeddings, requests } = setUp([]);
    await embeddings.embed('unreachable');
    await embeddings.embed('unreachable');
    expect(requests).toEqual([
      expect.objectContaining({ task: 'embed-missing', ifWaiting: 'keep', runAt: expect.any(Date) }),
    ]);
  });

  it('goes on behind a table without rows while an outage of before is not known to be over', async () => {
    const behind = new MemoryTable('b', rowsOf(2));
    const { embeddings, embedMissing } = setUp([new MemoryTable('a', []), behind]);
    await embeddings.embed('unreachable');
    expect(embeddings.outage).toBe(true);
    expect(await embedMissing.run()).toEqual({ embedded: 2, failed: 0 });
  });

  it('comes back soon from an outage, later for texts that are refused', async () => {
    const { job } = setUp([new MemoryTable('a', rowsOf(2))]);
    expect(await job.run({ org_id: 'x' }, context)).toEqual({ status: 'done' });
    const away = async (text: string): Promise<number> => {
      const outcome = await setUp([
        new MemoryTable(
          'a',
          rowsOf(2, () => text),
        ),
      ]).job.run({ org_id: 'x' }, context);
      if (outcome.status !== 'again') throw new Error(`unexpected: ${outcome.status}`);
      expect(outcome.reason).toBe('2 rows could not be embedded');
      return outcome.at.getTime() - Date.now();
    };
    expect(await away('unreachable')).toBeLessThanOrEqual(30_000);
    expect(await away('input')).toBeGreaterThan(3_000_000);
  });
});
