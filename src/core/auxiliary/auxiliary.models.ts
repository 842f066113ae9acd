import type { ZodType } from 'zod';
import type { AnswerShape } from '../../platform/llm/answers.js';

export type { Answer } from '../../platform/llm/answers.js';

/** Where a role's providers are listed; an empty list counts as none. */
export interface ChainSource {
  llm: readonly string[];
  llmAuxiliary: readonly string[];
}

export interface AuxiliaryCall {
  orgId: string;
  /** On whose account the call is metered. */
  agent: { id: string; handle: string; role: string };
  /** What `AuxiliaryModel.chainOf` answered for the role; the next provider is asked where one fails. */
  chain: readonly string[];
  turnId: string | null;
  traceId?: string | null;
  spanId?: string | null;
  /** Snake case, e.g. `persist_decider`; also the header `x-learning-worker`. */
  worker: string;
  /** The rules. */
  system: string;
  /** The data. */
  user: string;
  /** Most output tokens; 0 or absent: the provider's own default. */
  maxTokens?: number;
  signal?: AbortSignal;
}

export interface AuxiliaryJsonCall<Value> extends AuxiliaryCall {
  /** What the answer must fit. */
  schema: ZodType<Value>;
  /** @default 'object' */
  shape?: AnswerShape;
  /** The form to ask the provider for. @default derived from `schema` where JSON Schema can express it, else none */
  format?: ZodType;
}

/**
 * `no_model`: no provider of the chain is configured. `open`: every provider is left alone for now, nothing was sent.
 * `transient`: worth another try later. `refused`: every provider refused, and would again. `budget_exhausted`: nothing was sent, the day's tokens are spent.
 */
export type AuxiliaryFault = 'no_model' | 'transient' | 'refused' | 'open' | 'budget_exhausted';

/** No provider of the chain answered. */
export class AuxiliaryUnavailable extends Error {
  constructor(
    readonly fault: AuxiliaryFault,
    message: string,
    /** When a provider asked to be tried again; absent where none did. */
    readonly retryAt?: Date,
  ) {
    super(message);
    this.name = 'AuxiliaryUnavailable';
  }
}
