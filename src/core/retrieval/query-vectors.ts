import { Injectable } from '@nestjs/common';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { vectorLiteral, type QueryVector } from './scoped-search.sql.js';

/** A turn's own text is asked for by several blocks and tools; older queries rarely come again. */
const KEPT = 200;

/** The vectors of queries, so that the same text is not sent to the embedder again a moment later. */
@Injectable()
export class QueryVectors {
  /** By model and text, the one used last at the end. */
  private readonly recent = new Map<string, QueryVector>();

  constructor(private readonly embeddings: Embeddings) {}

  /** Null where the query cannot be embedded: no embedder, or it fails. That is not remembered. */
  async of(query: string, signal?: AbortSignal): Promise<QueryVector | null> {
    const { model } = this.embeddings;
    if (model === null) return null;
    const key = `${model}\n${query}`;
    const vector = this.recent.get(key) ?? (await this.embed(model, query, signal));
    if (vector === null) return null;
    this.recent.delete(key);
    this.recent.set(key, vector);
    if (this.recent.size > KEPT) this.recent.delete(this.recent.keys().next().value!);
    return vector;
  }

  private async embed(model: string, query: string, signal?: AbortSignal): Promise<QueryVector | null> {
    const values = await this.embeddings.embed(query, signal);
    return values && { model, dimensions: values.length, literal: vectorLiteral(values) };
  }
}
