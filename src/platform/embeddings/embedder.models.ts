/** Turns text into vectors. Throws where it cannot; never answers with a made-up vector. */
export interface Embedder {
  /** Stored with each vector; a search uses only vectors of the current model. */
  readonly model: string;
  /** True where no network call is made. */
  readonly local: boolean;
  /** One vector a text, in order. Texts are already shortened to the embedding-text policy. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]>;
}
