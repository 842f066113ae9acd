import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { rankLexically, type LexicalRow } from './lexical-ranking.js';
import { openingTokens } from './opening.js';
import { QueryVectors } from './query-vectors.js';
import { fuseRanks } from './rank-fusion.js';
import {
  exactVectorStatement,
  indexedVectorStatement,
  lexicalStatement,
  recencyStatement,
  type LexicalHits,
  type SearchScope,
  type Statement,
} from './scoped-search.sql.js';
import { searchTokens } from './tokens.js';
import { VectorIndex } from './vector-index.js';

/** Terms of a query that are looked up; a longer query should begin with what matters most. */
const QUERY_TERM_LIMIT = 100;

/**
 * What an arm's ranks count. The built-in embedder reads the same words as the lexical arm, less well: with an equal
 * vote it lowers recall on LoCoMo (docs/benchmarks.md), so it only orders what the other leaves open.
 * The recency arm brings rows into a pool that no query asks for; it does not know which row is best.
 */
const WEIGHTS = { lexical: 1, vector: 1, builtInVector: 0.1, recency: 0.5 };

/**
 * Cosine similarity above which a row has to do with a query. To a semantic embedder unrelated texts are about at
 * right angles or beyond. The built-in one finds shared trigrams everywhere: of 111,783 pairs of a LoCoMo question and a
 * turn of another conversation that share no word, 99.9 % stay below 0.25 (`refunded` and `refund the order`: 0.48).
 */
const RELATED_ABOVE = { builtIn: 0.25, semantic: 0 };

export type SearchArm = 'vector' | 'lexical' | 'recency';

export interface SearchRequest extends SearchScope {
  /** Null asks for the newest rows alone. */
  query: string | null;
  /** How many rows each arm may name, 0 or absent: the arm is not asked. */
  arms: Partial<Record<SearchArm, number>>;
  /** How many rows come back. */
  limit: number;
  /** What the vector arm reads of its rows, `id` among it, so that they need not be read again. @default id */
  columns?: string;
  /** Leaves out what the vector arm alone names and is not near: some rows are always the nearest. @default false */
  relatedOnly?: boolean;
  signal?: AbortSignal;
}

interface Neighbour {
  id: string;
  /** Cosine distance, 0 to 2; NaN for a vector without a direction. */
  distance: number;
}

export interface SearchHit<Row = unknown> {
  id: string;
  /** Reciprocal rank fusion; comparable within one answer only. */
  score: number;
  /** The arms that named the row. */
  arms: SearchArm[];
  /** The `columns` asked for, where the vector arm named the row. */
  row?: Row;
}

/**
 * The search within one agent's memories: vector, lexical and recency arm, fused by reciprocal rank.
 *
 * Rows of one conversation lend each other their words in the lexical arm alone. The vector arm stays the plain order
 * of cosine distance, which a brute-force scan can check, and the recency arm the plain order of time.
 */
@Injectable()
export class ScopedSearch {
  constructor(
    private readonly database: Database,
    private readonly embeddings: Embeddings,
    private readonly vectors: QueryVectors,
    private readonly vectorIndex: VectorIndex,
    private readonly settings: Settings,
  ) {}

  /**
   * Best first. A query without a word names nothing in the lexical arm, one that cannot be embedded (no embedder, or
   * it fails) nothing in the vector arm. Never call it inside a transaction: the query may have to be embedded over the
   * network. Errors are the database's, and the signal's reason once it is aborted.
   */
  async search<Row = unknown>(request: SearchRequest): Promise<SearchHit<Row>[]> {
    const { query, arms, limit } = request;
    const [vector, lexical, recency] = await Promise.all([
      query?.trim() && arms.vector ? this.nearest<Row>(request, query, arms.vector) : [],
      query !== null && arms.lexical ? this.lexical(request, query, arms.lexical) : [],
      arms.recency ? this.newest(request, arms.recency) : [],
    ]);
    request.signal?.throwIfAborted();
    const ranked = fuseRanks<SearchArm>([
      {
        arm: 'vector',
        ids: vector.map(({ id }) => id),
        weight: this.embeddings.local ? WEIGHTS.builtInVector : WEIGHTS.vector,
      },
      { arm: 'lexical', ids: lexical, weight: WEIGHTS.lexical },
      { arm: 'recency', ids: recency, weight: WEIGHTS.recency },
    ]);
    const near = new Map(vector.map((neighbour) => [neighbour.id, neighbour]));
    const floor = this.embeddings.local ? RELATED_ABOVE.builtIn : RELATED_ABOVE.semantic;
    const related = request.relatedOnly
      ? ranked.filter(({ id, arms }) => arms.some((arm) => arm !== 'vector') || 1 - near.get(id)!.distance > floor)
      : ranked;
    return related.slice(0, limit).map((hit) => ({ ...hit, row: request.columns ? near.get(hit.id) : undefined }));
  }

  private async nearest<Row>(request: SearchRequest, query: string, limit: number): Promise<(Neighbour & Row)[]> {
    this.database.assertNoTransaction('embedding a query');
    const vector = await this.vectors.of(query, request.signal);
    if (!vector) return [];
    const columns = request.columns ?? 'id';
    if (this.settings.retrieval.vector_index === 'exact' || !this.vectorIndex.usable(request.table, vector)) {
      return this.rows(exactVectorStatement(request, vector, columns, limit));
    }
    return this.database.transaction(async () => {
      // Without these an agent's rows behind the first forty of the whole table are not found.
      await this.database.query(`set local hnsw.iterative_scan = strict_order`);
      await this.database.query(`set local hnsw.max_scan_tuples = 2147483647`);
      return this.rows(indexedVectorStatement(request, vector, columns, limit));
    });
  }

  private async lexical(scope: SearchScope, query: string, limit: number): Promise<string[]> {
    const tokens = searchTokens(query, 'query');
    if (tokens.length === 0) return [];
    const { sql, parameters } = lexicalStatement(scope, tokens, QUERY_TERM_LIMIT);
    const [hits] = await this.database.query<LexicalHits>(sql, parameters);
    if (!hits?.ids) return [];
    const ids = hits.ids.split(',');
    return rankLexically(rowsOf(hits), openingTokens(query))
      .slice(0, limit)
      .map((index) => ids[index]!);
  }

  private async newest(scope: SearchScope, limit: number): Promise<string[]> {
    return (await this.rows<{ id: string }>(recencyStatement(scope, limit))).map(({ id }) => id);
  }

  private rows<Row>({ sql, parameters }: Statement): Promise<Row[]> {
    return this.database.query<Row>(sql, parameters);
  }
}

function rowsOf(hits: LexicalHits): LexicalRow[] {
  const conversations = (hits.conversations ?? '').split(',');
  const lengths = (hits.lengths ?? '').split(',');
  const openings = hits.openings?.split(',');
  return (hits.terms ?? '').split(',').map((terms, index) => ({
    conversation: conversations[index] || null,
    length: Number(lengths[index]),
    terms: terms === '' ? [] : terms.split(' ').map(Number),
    opening: openings?.[index]?.split(' '),
  }));
}
