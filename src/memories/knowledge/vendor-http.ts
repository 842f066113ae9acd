import { storableText } from '../../platform/text/storable-text.js';
import { isRetriedStatus, retryAfterMs } from '../../platform/outbound/sdk-fetch.js';
import { CircuitBreaker } from '../../platform/outbound/circuit-breaker.js';
import { OutOfTime, withDeadline } from '../../platform/outbound/deadline.js';

export interface VendorHttpOptions {
  /** For messages, e.g. `Confluence`. */
  vendor: string;
  /** Below which every path stands; a slash at its end makes no difference. */
  baseUrl: string;
  /** Carry the credentials; they appear in no error. */
  headers: Record<string, string>;
  /** Milliseconds one call may take, further attempts and the waits between them included. */
  timeoutMs: number;
  /** Shared by all that speak to the same server. @default one of its own, `hangBreaker` */
  breaker?: CircuitBreaker;
  /** Throws where this is no moment to wait for a server, as in a transaction. @default always a good moment */
  beforeCall?: () => void;
}

/** Milliseconds of silence from which on a call that ran out of time counts as one that hung. */
const HANG_MS = 1_000;

/**
 * Leaves a server alone for 30 s that has hung five times in a row, so that not every turn waits for it. Refusals and
 * faults that are told at once cost no time and never count.
 */
export function hangBreaker(): CircuitBreaker {
  return new CircuitBreaker({ threshold: 5, coolDownMs: 30_000, now: Date.now });
}

export interface VendorRequest {
  /** Below the base address; each part is encoded. */
  path: readonly string[];
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
}

/**
 * Why a vendor's server gave nothing usable. `refused`: an answer that another attempt would not change, with its
 * `status`. `unavailable`: none in time, none at all, or a fault that passes by. `rubbish`: an answer that is not what
 * the vendor documents.
 */
export type VendorFault = 'refused' | 'unavailable' | 'rubbish';

/** Names vendor, path and status; never the credentials, the query or what the server wrote. */
export class VendorError extends Error {
  constructor(
    message: string,
    readonly fault: VendorFault,
    /** Of the last answer; null where there was none. */
    readonly status: number | null = null,
    /** What the last answer said, where it was JSON: outside data. */
    readonly body: unknown = null,
  ) {
    super(message);
    this.name = 'VendorError';
  }
}

/** Attempts at one call, the first included. */
const ATTEMPTS = 3;
/** Wait before the second attempt where the server asks for none; doubled for the third. */
const BACK_OFF_MS = 200;
/** An answer longer than this is given up: a page of results with bodies is far below it. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * JSON over HTTP with a knowledge base. It follows no redirect and takes no address from an answer, so it speaks to the
 * configured host alone. Reads are tried again at faults that pass by; a write only where the server says that it has
 * not begun (429, or 503 with `Retry-After`), since it could otherwise happen twice.
 */
export class VendorHttp {
  private readonly base: string;
  private readonly breaker: CircuitBreaker;

  constructor(private readonly options: VendorHttpOptions) {
    this.base = options.baseUrl.replace(/\/+$/, '');
    this.breaker = options.breaker ?? hangBreaker();
  }

  /** @throws VendorError */
  get(request: VendorRequest): Promise<unknown> {
    return this.call('GET', request, undefined);
  }

  /** @throws VendorError */
  post(request: VendorRequest, body: unknown): Promise<unknown> {
    return this.call('POST', request, JSON.stringify(body));
  }

  private async call(method: 'GET' | 'POST', request: VendorRequest, body: string | undefined): Promise<unknown> {
    this.options.beforeCall?.();
    const what = `${this.options.vendor}: ${method} /${request.path.join('/')}`;
    // Ids come from answers; these two would lead to another path, encoded or not.
    if (request.path.some((part) => /^\.\.?$/.test(part))) throw new VendorError(`${what} is no path`, 'refused');
    const startedAt = Date.now();
    const deadline = startedAt + this.options.timeoutMs;
    const pass = this.breaker.enter();
    if (!pass)
      throw new VendorError(`${what} is not sent: the server has hung, and is left alone for now`, 'unavailable');
    try {
      const value = await withDeadline(this.options.timeoutMs, request.signal, async (signal) => {
        for (let attempt = 1; ; attempt += 1) {
          const answer = await this.attempt(method, request, body, signal).catch((error: unknown) => {
            const final = error instanceof VendorError || signal.aborted || method === 'POST' || attempt === ATTEMPTS;
            if (final) throw unreachable(what, error);
            return null;
          });
          if (answer && answer.status >= 200 && answer.status < 300) return parsed(what, answer);
          const asked = answer && retryAfterMs(answer.headers);
          const wait = asked ?? BACK_OFF_MS * 2 ** (attempt - 1);
          const hopeless = attempt === ATTEMPTS || Date.now() + wait >= deadline;
          if (answer && (hopeless || !mayRepeat(method, answer.status, asked))) throw refusal(what, answer);
          await pause(wait, signal);
        }
      });
      pass.succeeded();
      return value;
    } catch (error) {
      if (error instanceof OutOfTime && Date.now() - startedAt >= HANG_MS) pass.failed();
      else if (error instanceof VendorError && error.status !== null) pass.succeeded();
      else pass.endedNeutrally();
      throw unreachable(what, error);
    }
  }

  private async attempt(
    method: string,
    { path, query = {} }: VendorRequest,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encoded(String(value))}`],
    );
    const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
    const response = await fetch(`${this.base}/${path.map(encoded).join('/')}${search}`, {
      method,
      body,
      signal,
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.options.headers,
      },
    });
    const text = await boundedText(response);
    if (text === null)
      throw new VendorError(`${this.options.vendor}: the answer is too long`, 'rubbish', response.status);
    return { status: response.status, headers: response.headers, text };
  }
}

function mayRepeat(method: string, status: number, askedToWait: number | null): boolean {
  if (method === 'POST') return status === 429 || (status === 503 && askedToWait !== null);
  return status !== 409 && isRetriedStatus(status);
}

function refusal(what: string, { status, text }: Answer): VendorError {
  const redirect = status >= 300 && status < 400;
  const message = redirect ? `answered ${status}, a redirect, which is not followed` : `answered ${status}`;
  const passing = status !== 409 && isRetriedStatus(status);
  return new VendorError(`${what} ${message}`, passing ? 'unavailable' : 'refused', status, jsonOf(text) ?? null);
}

/** Of what went wrong below HTTP only the code is told: other words may hold what was sent. */
function unreachable(what: string, error: unknown): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof OutOfTime) return new VendorError(`${what}: ${error.message}`, 'unavailable');
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
  const code = typeof cause?.code === 'string' ? cause.code : (name ?? 'unknown fault');
  return new VendorError(`${what} got no answer (${code})`, 'unavailable');
}

function parsed(what: string, { status, text }: Answer): unknown {
  const value = jsonOf(text);
  if (value === undefined) throw new VendorError(`${what} answered ${status} with what is not JSON`, 'rubbish', status);
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** Null where it is too long. */
async function boundedText(response: Response): Promise<string | null> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of response.body ?? []) {
    const part = chunk as Uint8Array;
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) return null;
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function encoded(text: string): string {
  return encodeURIComponent(storableText(text));
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
