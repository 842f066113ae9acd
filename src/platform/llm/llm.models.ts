import type { ZodType } from 'zod';

export interface LlmRequest {
  /** Who asks; sent as the header `x-learning-worker`. */
  worker: string;
  system: string;
  user: string;
  /** Where given, a JSON Schema of it is sent as the wanted output format. Reading the answer is the caller's. */
  schema?: ZodType;
  /** Most output tokens; 0 or absent: the provider's own default. */
  maxTokens?: number;
  /** Aborting it ends the call as `transient`. */
  signal?: AbortSignal;
}

export interface LlmReply {
  /** The text blocks, joined. */
  text: string;
  /** What was read, cached or not. */
  inputTokens: number;
  outputTokens: number;
}

/** One configured provider: one call, its deadline, its retries, its breaker. Throws only `LlmError`. */
export interface LlmProvider {
  readonly name: string;
  /** The model's name as the provider knows it. */
  readonly model: string;
  complete(request: LlmRequest): Promise<LlmReply>;
}

/**
 * `transient`: 408, 409, 429, 5xx, 529, timeouts and broken connections, after the provider's own retries.
 * `refused`: 400, 401, 402, 403, 404 and every other 3xx and 4xx: never retried.
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

/** How one provider is reached and how long it is waited for. */
export interface LlmProviderOptions {
  name: string;
  model: string;
  /** Unset: the vendor's own address. */
  baseUrl?: string;
  /** Unset: no key is sent. */
  apiKey?: string;
  /** For the whole call, the retries and the waits between them included. */
  timeoutSeconds: number;
  /** Attempts after the first. */
  maxRetries: number;
  /** Sent only where given: current models refuse sampling parameters. */
  temperature?: number;
}
