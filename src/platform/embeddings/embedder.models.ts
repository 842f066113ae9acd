/** Turns text into vectors. Throws where it cannot; never answers with a made-up vector. */
export interface Embedder {
  /** Stored with each vector; a search uses only vectors of the current model. */
  readonly model: string;
  /** True where no network call is made. */
  readonly local: boolean;
  /**
   * One vector a text, in order; finite, of one length, never all zero. Texts are already shortened to the
   * embedding-text policy.
   *
   * @throws EmbeddingError
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]>;
}

/**
 * `input`: the server answered, and not these texts; others may still pass.
 * `unreachable`: it would answer nothing else either (connection, key, rate).
 * `timeout`: it did not answer in time.
 */
export type EmbeddingFault = 'input' | 'unreachable' | 'timeout';

export class EmbeddingError extends Error {
  constructor(
    readonly fault: EmbeddingFault,
    message: string,
  ) {
    super(message);
    this.name = 'EmbeddingError';
  }
}
