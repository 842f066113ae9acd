import { Logger } from '@nestjs/common';
import { clipText, storableText } from '../text/storable-text.js';
import { type BreakerPass, CircuitBreaker } from '../outbound/circuit-breaker.js';
import { Cancelled, OutOfTime, withDeadline } from '../outbound/deadline.js';
import { LlmError, type LlmProvider, type LlmProviderOptions, type LlmReply, type LlmRequest } from './llm.models.js';
import { refusesFormat } from './output-format.js';
import { isRetriedStatus, retryAfterMs } from '../outbound/sdk-fetch.js';

/** A caller that waited for less than this says nothing about the provider when its own time is up. */
const FAIR_WAIT_MS = 2_000;

/** Longest that a `Retry-After` is taken at its word. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * What every provider behind HTTP has in common: deadline, breaker and fault classes. The breaker opens after 5 calls in
 * a row (not attempts of the SDK) that ended transient, for 30 s; a refused call never counts.
 */
export abstract class HttpLlmProvider implements LlmProvider {
  readonly name: string;
  readonly model: string;
  private readonly log: Logger;
  private readonly breaker: CircuitBreaker;
  private readonly timeoutMs: number;
  /** Workers whose output format this server has refused: their answers are read without one. */
  private readonly withoutFormat = new Set<string>();

  constructor(
    protected readonly options: LlmProviderOptions,
    private readonly now: () => number = Date.now,
  ) {
    this.name = options.name;
    this.model = options.model;
    this.timeoutMs = options.timeoutSeconds * 1000;
    this.log = new Logger(`LlmProvider ${options.name}`);
    this.breaker = new CircuitBreaker({ threshold: 5, coolDownMs: 30_000, now });
  }

  /** One call of the SDK, its own retries included. Throws what the SDK throws. */
  protected abstract send(request: LlmRequest, signal: AbortSignal): Promise<LlmReply>;

  async complete(request: LlmRequest): Promise<LlmReply> {
    const pass = this.breaker.enter();
    if (!pass) {
      const retryAt = this.breaker.retryAt;
      const message = `${this.name} failed too often and is left alone until ${retryAt.toISOString()}`;
      throw new LlmError('open', message, { provider: this.name, retryAt });
    }
    const startedAt = this.now();
    try {
      const reply = await withDeadline(this.timeoutMs, request.signal, (signal) => this.sendFormatted(request, signal));
      pass.succeeded();
      return reply;
    } catch (error) {
      const fault = this.faultOf(error);
      this.tell(pass, error, fault, this.now() - startedAt);
      throw fault;
    }
  }

  /**
   * Many compatible servers refuse a JSON Schema. The first such refusal of a worker's format is answered by asking once
   * more without it, and it is not sent for that worker again: the prompt states the form too, and the answer is checked
   * either way. Sending none at all would give up constrained decoding where small models need it most.
   */
  private async sendFormatted(request: LlmRequest, signal: AbortSignal): Promise<LlmReply> {
    const { worker } = request;
    if (!request.schema || this.withoutFormat.has(worker)) return this.send({ ...request, schema: undefined }, signal);
    try {
      return await this.send(request, signal);
    } catch (error) {
      if (signal.aborted || !refusesFormat(error)) throw error;
      this.withoutFormat.add(worker);
      this.log.log(`refuses the output format of ${worker}; asking without one from now on`);
      return this.send({ ...request, schema: undefined }, signal);
    }
  }

  private tell(pass: BreakerPass, error: unknown, fault: LlmError, elapsedMs: number): void {
    const callersDoing = error instanceof Cancelled || (error instanceof OutOfTime && error.callersOwn);
    const unfair = callersDoing && (error instanceof Cancelled || elapsedMs < FAIR_WAIT_MS);
    if (fault.fault === 'refused' || unfair) pass.endedNeutrally();
    else pass.failed();
  }

  private faultOf(error: unknown): LlmError {
    // What the server says of itself ends up in a job's last error.
    const message = clipText(this.withoutKey(storableText(`${this.name}: ${describe(error)}`)), 300);
    const status = statusOf(error);
    if (status === undefined) return new LlmError('transient', message, { provider: this.name });
    if (!isRetriedStatus(status)) return new LlmError('refused', message, { provider: this.name, status });
    const headers = headersOf(error);
    const wait = headers && retryAfterMs(headers, this.now());
    const retryAt = wait ? new Date(this.now() + Math.min(wait, LONGEST_RETRY_AFTER_MS)) : undefined;
    return new LlmError('transient', message, { provider: this.name, status, retryAt });
  }

  /** Some servers repeat the key that they refuse. */
  private withoutKey(message: string): string {
    const { apiKey } = this.options;
    return apiKey ? message.replaceAll(apiKey, '[key]') : message;
  }
}

/** The message, and where the SDK only says that the connection failed, what the socket said. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let root: { message?: unknown; cause?: unknown } = error;
  while (typeof root.cause === 'object' && root.cause !== null) root = root.cause;
  return root === error ? error.message : `${error.message} (${String(root.message)})`;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

function headersOf(error: unknown): Headers | undefined {
  return error instanceof Error && 'headers' in error && error.headers instanceof Headers ? error.headers : undefined;
}
