import { createHash } from 'node:crypto';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import pg from 'pg';
import { Settings } from '../../platform/config/settings.js';
import { DatabaseConnection } from '../../platform/database/connection.js';
import { createVectorIndex, type IndexBuild, type QueryVector, type SearchableTable } from './scoped-search.sql.js';

/** Dimensions that pgvector's HNSW takes for the `vector` type. */
const HNSW_MAX_DIMENSIONS = 2_000;

const LOCK_POLL_MS = 500;

/** The names that `indexName` gives. */
const OUR_INDEXES = '^(agent_diary|episodes)_embedding_[0-9a-f]{12}$';

/**
 * Keeps one HNSW index a table and embedding model where `retrieval.vector_index` is `hnsw`, and none where it is
 * `exact`: an index that nobody searches makes every insert slower. Vectors stay where they are either way.
 */
@Injectable()
export class VectorIndex implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly log = new Logger(VectorIndex.name);
  private readonly ready = new Set<string>();
  private readonly building = new Map<string, Promise<void>>();
  private client: pg.Client | null = null;
  private stopping = false;

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.retrieval.vector_index === 'exact') this.inBackground('', (client) => this.dropAll(client));
  }

  /**
   * True once the index of the vector's model and length can be searched with. Else it is being built in the background:
   * the search stays exact meanwhile, and writes go on. A build that fails is logged and begun again by a later search.
   */
  usable(table: SearchableTable, vector: QueryVector): boolean {
    if (vector.dimensions > HNSW_MAX_DIMENSIONS) return false;
    const name = indexName(table, vector);
    if (!this.ready.has(name)) this.inBackground(name, (client) => this.build(client, table, name, vector));
    return this.ready.has(name);
  }

  /** Resolves when nothing is being built or dropped. */
  async settled(): Promise<void> {
    while (this.building.size > 0) await Promise.all(this.building.values());
  }

  /** Ends a build that is under way: what is left of it is cleared away by the next. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    await this.client?.end().catch(() => undefined);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.settled();
  }

  /** One at a time: they share a connection of their own, since a build may take longer than any other query may. */
  private inBackground(name: string, work: (client: pg.Client) => Promise<void>): void {
    if (this.stopping || this.building.has(name)) return;
    const before = [...this.building.values()];
    const task = Promise.all(before)
      .then(() => this.withClient(work))
      .catch((error: unknown) => {
        if (!this.stopping) this.log.error(`vector index ${name}: ${String(error)}; searches stay exact`);
      })
      .finally(() => this.building.delete(name));
    this.building.set(name, task);
  }

  private async withClient(work: (client: pg.Client) => Promise<void>): Promise<void> {
    if (this.stopping) return;
    const client = new pg.Client(this.connection.poolConfig);
    // A connection that breaks fails the query that runs on it.
    client.on('error', () => undefined);
    this.client = client;
    await client.connect();
    try {
      await work(client);
    } finally {
      this.client = null;
      await client.end().catch(() => undefined);
    }
  }

  private async build(client: pg.Client, table: SearchableTable, name: string, vector: QueryVector): Promise<void> {
    // Whoever comes second waits for the one who builds it and finds it there. Waiting inside of Postgres would keep a
    // snapshot, for whose end a concurrent build waits in turn.
    while (!(await locked(client, name))) await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
    try {
      await this.buildUnlessThere(client, table, name, vector);
    } finally {
      // The session of the embedded database outlives the connection.
      await client.query(`select pg_advisory_unlock(hashtext($1))`, [name]).catch(() => undefined);
    }
  }

  private async buildUnlessThere(
    client: pg.Client,
    table: SearchableTable,
    name: string,
    vector: QueryVector,
  ): Promise<void> {
    const found = await client.query<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass($1)`,
      [name],
    );
    if (found.rows[0]?.valid !== true) {
      if (found.rowCount) await client.query(`drop index ${name}`);
      this.log.log(`building the vector index ${name}`);
      await client.query(createVectorIndex(table, name, vector, this.buildOf(table)));
    }
    this.ready.add(name);
  }

  private buildOf(table: SearchableTable): IndexBuild {
    if (this.connection.mode === 'embedded') return 'plain';
    return table === 'episodes' && this.connection.hypertable ? 'per_chunk' : 'concurrently';
  }

  private async dropAll(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ name: string }>(
      `select indexname as name from pg_indexes where schemaname = current_schema() and indexname ~ $1`,
      [OUR_INDEXES],
    );
    for (const { name } of rows) {
      await client.query(`drop index if exists ${name}`);
      this.log.log(`dropped the vector index ${name}: retrieval.vector_index is exact`);
    }
  }
}

async function locked(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(hashtext($1)) as locked`, [
    name,
  ]);
  return rows[0]!.locked;
}

function indexName(table: SearchableTable, { model, dimensions }: QueryVector): string {
  const hash = createHash('sha256').update(`${model}\n${dimensions}`).digest('hex').slice(0, 12);
  return `${table}_embedding_${hash}`;
}
