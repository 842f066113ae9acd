import { Logger } from '@nestjs/common';
import type { Database } from '../database/database.js';
import { CircuitBreaker } from '../outbound/circuit-breaker.js';
import { OutOfTime, withDeadline } from '../outbound/deadline.js';
import { type Embedder, EmbeddingError, type EmbeddingFault } from './embedder.models.js';
import { embeddingText } from './embedding-text.js';

/** Texts of one request. */
const BATCH = 64;

/** Requests at a time when the texts of a refused batch are sent one by one. */
const SINGLES_AT_A_TIME = 4;

/** Time for one text, which somebody waits for. */
const SINGLE_MS = 5_000;

/**
 * The vectors of texts. Never throws for a server that fails: what could not be embedded is null, to be stored
 * without a vector and found by the `embed-missing` job later. Nothing is asked of the server before the first text.
 */
export class Embeddings {
  private readonly log = new Logger(Embeddings.name);
  private readonly listeners: (() => void)[] = [];
  /** A server that hangs is not waited for again and again; one that refuses answers fast enough to be asked. */
  private readonly breaker: CircuitBreaker;
  private state: 'working' | 'refusing' | 'outage' = 'working';

  /** @param embedder null: semantic search is off */
  constructor(
    private readonly embedder: Embedder | null,
    private readonly database: Database,
    now: () => number = Date.now,
  ) {
    this.breaker = new CircuitBreaker({ threshold: 3, coolDownMs: 10_000, now });
  }

  /** Stored with each vector; a search uses only vectors of this model. null: nothing is embedded. */
  get model(): string | null {
    return this.embedder?.model ?? null;
  }

  /** True where no network call is made. */
  get local(): boolean {
    return this.embedder?.local ?? true;
  }

  /** True from a failure of the server as such until it answers again. */
  get outage(): boolean {
    return this.state === 'outage';
  }

  /** The vector of one text, or null, after 5 s at the latest. */
  async embed(text: string, signal?: AbortSignal): Promise<number[] | null> {
    const [vector] = await this.embedMany([text], signal);
    return vector ?? null;
  }

  /** One vector or null a text, in order. A text that fails takes no other one down. */
  async embedMany(texts: readonly string[], signal?: AbortSignal): Promise<(number[] | null)[]> {
    const vectors = new Array<number[] | null>(texts.length).fill(null);
    if (!this.embedder || texts.length === 0) return vectors;
    if (!this.embedder.local) this.database.assertNoTransaction('an embedding call');
    const prepared = texts.map(embeddingText);
    for (let from = 0; from < texts.length; from += BATCH) {
      const batch = await this.batch(this.embedder, prepared.slice(from, from + BATCH), signal);
      if (!batch) break;
      vectors.splice(from, batch.length, ...batch);
    }
    if (vectors.includes(null) && !signal?.aborted) this.listeners.forEach((listener) => listener());
    return vectors;
  }

  /** Calls `listener` whenever texts were left without a vector although nobody gave up waiting. */
  onUnembedded(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** null: the server is out of reach, further texts are not worth sending. */
  private async batch(embedder: Embedder, texts: string[], signal?: AbortSignal): Promise<(number[] | null)[] | null> {
    const result = await this.attempt(embedder, texts, signal);
    if (typeof result !== 'string') return result;
    if (result === 'out of reach') return null;
    const vectors = new Array<number[] | null>(texts.length).fill(null);
    if (texts.length === 1) return vectors;
    for (let from = 0; from < texts.length; from += SINGLES_AT_A_TIME) {
      const singles = texts.slice(from, from + SINGLES_AT_A_TIME);
      const results = await Promise.all(singles.map((text) => this.attempt(embedder, [text], signal)));
      results.forEach((single, index) => {
        if (typeof single !== 'string') vectors[from + index] = single[0]!;
      });
      if (results.includes('out of reach')) break;
    }
    return vectors;
  }

  private async attempt(
    embedder: Embedder,
    texts: string[],
    outer: AbortSignal | undefined,
  ): Promise<number[][] | 'refused' | 'out of reach'> {
    const pass = this.breaker.enter();
    if (!pass) return 'out of reach';
    const somebodyWaits = texts.length === 1 && !embedder.local;
    try {
      const vectors = await (somebodyWaits
        ? withDeadline(SINGLE_MS, outer, (signal) => embedder.embed(texts, signal))
        : embedder.embed(texts, outer));
      pass.succeeded();
      if (this.state === 'outage') this.log.log(`embeddings of ${embedder.model} work again`);
      this.state = 'working';
      return vectors;
    } catch (error) {
      if (outer?.aborted) {
        pass.endedNeutrally();
        return 'out of reach';
      }
      const fault = faultOf(error);
      if (fault === 'timeout') pass.failed();
      else pass.endedNeutrally();
      this.failed(embedder.model, fault === 'input' ? 'refusing' : 'outage', error);
      return fault === 'input' ? 'refused' : 'out of reach';
    }
  }

  /** Says it once, not at every text. */
  private failed(model: string, state: 'refusing' | 'outage', error: unknown): void {
    if (this.state !== state) {
      const reason = error instanceof Error ? error.message : String(error);
      this.log.warn(`embeddings of ${model} fail, rows stay without a vector until they work: ${reason}`);
    }
    this.state = state;
  }
}

function faultOf(error: unknown): EmbeddingFault {
  if (error instanceof EmbeddingError) return error.fault;
  return error instanceof OutOfTime ? 'timeout' : 'input';
}
