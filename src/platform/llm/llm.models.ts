import type { ZodType } from 'zod';

export interface LlmRequest {
  /** Who asks; sent as the header `x-learning-worker`. */
  worker: string;
  system: string;
  user: string;
  /** Where given, a JSON Schema of it is sent as the wanted output format. Reading the answer is the caller's. */
  schema?: ZodType;
  /** 0 or absent: the provider's own default. */
  maxTokens?: number;
  signal?: AbortSignal;
}

export interface LlmReply {
  /** The text blocks, joined. */
  text: string;
  inputTokens: number;
  outputTokens: number;
}

/** One configured provider: one call, its deadline, its retries, its breaker. Throws only `LlmError`. */
export interface LlmProvider {
  readonly name: string;
  complete(request: LlmRequest): Promise<LlmReply>;
}

/**
 * `transient`: 408, 409, 429, 5xx, 529, timeouts and broken connections, after the provider's own retries.
 * `refused`: 400, 401, 402, 403, 404 and every other 4xx: never retried.
 * `open`: the breaker is open; nothing was sent. `retryAt` says when it will let a call through.
 */
export type LlmFault = 'transient' | 'refused' | 'open';

export class LlmError extends Error {
  constructor(
    readonly fault: LlmFault,
    message: string,
    readonly details: { provider: string; status?: number; retryAt?: Date },
  ) {
    super(message);
    this.name = 'LlmError';
  }
}
