import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { createVectorIndex, type QueryVector, type SearchableTable } from './scoped-search.sql.js';

/** Dimensions that pgvector's HNSW takes for the `vector` type. */
const HNSW_MAX_DIMENSIONS = 2_000;

/** Keeps the HNSW index of each embedding model that is searched with; used where `retrieval.vector_index` is `hnsw`. */
@Injectable()
export class VectorIndex {
  private readonly log = new Logger(VectorIndex.name);
  private readonly ready = new Map<string, Promise<boolean>>();

  constructor(private readonly database: Database) {}

  /**
   * True once the index of the vector's model and length is there; false where there can be none. The first search of
   * a process waits for it, and where it has to be built writes to the table wait too. A failure is logged, answers
   * false and is tried again at the next search.
   */
  ensure(table: SearchableTable, vector: QueryVector): Promise<boolean> {
    if (vector.values.length > HNSW_MAX_DIMENSIONS) return Promise.resolve(false);
    const name = indexName(table, vector);
    const known = this.ready.get(name);
    if (known) return known;
    const built = this.build(table, name, vector);
    this.ready.set(name, built);
    return built;
  }

  private async build(table: SearchableTable, name: string, vector: QueryVector): Promise<boolean> {
    try {
      await this.database.transaction(async () => {
        // Two that start at once would both find it missing; on a hypertable no index is built concurrently.
        await this.database.query(`select pg_advisory_xact_lock(hashtext($1))`, [name]);
        await this.database.query(createVectorIndex(table, name, vector));
      });
      return true;
    } catch (error) {
      this.ready.delete(name);
      this.log.error(`the vector index ${name} cannot be built, so searches stay exact: ${String(error)}`);
      return false;
    }
  }
}

function indexName(table: SearchableTable, { model, values }: QueryVector): string {
  const hash = createHash('sha256').update(`${model}\n${values.length}`).digest('hex').slice(0, 12);
  return `${table}_embedding_${hash}`;
}
