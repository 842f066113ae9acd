export interface ApiAnswer<Body> {
  status: number;
  /** The JSON that came back; a problem document where `status` is 400 or more. */
  body: Body;
}

/** `application/problem+json`, as far as the examples read it. */
export interface Problem {
  title?: string;
  detail?: string;
  code?: string;
  errors?: { path: string; message: string }[];
}

/** An answer that is not the wanted one, in a sentence fit for a terminal. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
    request: string,
  ) {
    const details = (problem.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; ');
    super(
      `${request} answered ${status}: ${problem.detail ?? problem.title ?? 'no reason given'}${details ? ` (${details})` : ''}`,
    );
    this.name = 'ApiFailure';
  }
}

const DEADLINE_MS = 30_000;
const RATE_LIMIT_TRIES = 5;

/** The few calls of the HTTP API that the examples make; `key` is sent as a bearer token where there is one. */
export class ApiClient {
  constructor(
    readonly url: string,
    private readonly key?: string,
  ) {}

  /** Answers whatever the status; waits out a 429 as long as `Retry-After` says. Throws where nothing answers. */
  async request<Body = unknown>(method: string, path: string, body?: unknown): Promise<ApiAnswer<Body>> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(new URL(path, this.url), {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(this.key ? { authorization: `Bearer ${this.key}` } : {}),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const text = await response.text();
      if (response.status === 429 && attempt < RATE_LIMIT_TRIES) {
        await new Promise((resolve) => setTimeout(resolve, 1_000 * (Number(response.headers.get('retry-after')) || 1)));
        continue;
      }
      return { status: response.status, body: parsed(text) as Body };
    }
  }

  /** As `request`, but any status of 400 or more throws `ApiFailure`. */
  async call<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.request<Body>(method, path, body);
    if (answer.status >= 400) throw new ApiFailure(answer.status, answer.body as Problem, `${method} ${path}`);
    return answer.body;
  }
}

function parsed(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text.slice(0, 200) } satisfies Problem;
  }
}
