import { Injectable } from '@nestjs/common';
import { Embeddings } from './embeddings.js';

export interface UnembeddedRow {
  id: string;
  text: string;
  /** The model of the vector that it has; null without one. */
  embedding_model: string | null;
}

/** The rows of one table that carry a vector, over all organisations. Registered by the room that owns the table. */
export interface EmbeddedRows {
  table: string;
  /** Up to `limit` rows that have no vector or one of another model, those after `after` in an order that does not change. */
  missing(model: string, limit: number, after?: UnembeddedRow): Promise<UnembeddedRow[]>;
  /** How many such rows there are; `most` where there are more. */
  backlog(model: string, most: number): Promise<number>;
  /** Stores the vectors, each only where the row still has the `text` that it was made of. */
  save(rows: (UnembeddedRow & { embedding: number[] })[], model: string): Promise<void>;
}

/** Every table with vectors. */
@Injectable()
export class EmbeddedTables {
  private readonly tables: EmbeddedRows[] = [];

  /** To be called before the application has booted. */
  register(rows: EmbeddedRows): void {
    this.tables.push(rows);
  }

  all(): readonly EmbeddedRows[] {
    return this.tables;
  }
}

export interface Reembedded {
  embedded: number;
  /** Rows that were tried in vain. */
  failed: number;
}

const BATCH = 64;

/** Gives every row a vector of the current model: those of another model, and those that an outage left without. */
@Injectable()
export class EmbedMissing {
  constructor(
    private readonly tables: EmbeddedTables,
    private readonly embeddings: Embeddings,
  ) {}

  /** The tables that have rows without a vector of the current model; none where nothing is embedded at all. */
  async pending(): Promise<string[]> {
    const { model } = this.embeddings;
    if (model === null) return [];
    const found = [];
    for (const rows of this.tables.all()) {
      if ((await rows.missing(model, 1)).length > 0) found.push(rows.table);
    }
    return found;
  }

  /** Walks all tables, until none misses a vector, nothing can be embedded, or `signal` aborts. */
  async run(signal?: AbortSignal): Promise<Reembedded> {
    const total: Reembedded = { embedded: 0, failed: 0 };
    const { model } = this.embeddings;
    if (model === null) return total;
    for (const rows of this.tables.all()) {
      const { embedded, failed } = await this.runTable(rows, model, signal);
      total.embedded += embedded;
      total.failed += failed;
      // An outage of before says nothing of now, unless a table has just failed.
      if ((failed > 0 && this.embeddings.outage) || signal?.aborted) break;
    }
    return total;
  }

  private async runTable(rows: EmbeddedRows, model: string, signal?: AbortSignal): Promise<Reembedded> {
    const total: Reembedded = { embedded: 0, failed: 0 };
    let last: UnembeddedRow | undefined;
    while (!signal?.aborted) {
      const missing = await rows.missing(model, BATCH, last);
      if (missing.length === 0) break;
      const vectors = await this.embeddings.embedMany(
        missing.map(({ text }) => text),
        signal,
      );
      const saved = missing.flatMap((row, index) => (vectors[index] ? [{ ...row, embedding: vectors[index] }] : []));
      if (saved.length > 0) await rows.save(saved, model);
      total.embedded += saved.length;
      total.failed += missing.length - saved.length;
      if (saved.length === 0) break;
      last = missing.at(-1);
    }
    return total;
  }
}
