/**
 * Both SDKs take headers from `*_CUSTOM_HEADERS` in the environment and cannot be told not to. What leaves is therefore
 * chosen here: what the protocols need and what we set ourselves.
 */
const SENT_HEADERS =
  /^(accept|authorization|content-type|user-agent|anthropic-version|x-learning-worker|x-stainless-.+)$/;

/** Statuses that a later attempt may overcome; every other one below 500 stays what it is. */
export function isRetriedStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The milliseconds that a reply asks to wait for; null where it asks for none that can be read. */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const text = headers.get('retry-after') ?? '';
  const seconds = Number(text);
  if (text !== '' && seconds >= 0) return seconds * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/**
 * The `fetch` that the SDKs send with. It follows no redirect, so nothing is sent to a host that was not configured, and
 * it alone decides what the SDK retries (they obey `x-should-retry`): a server can neither make it repeat a refused call
 * nor put it to sleep for longer than `longestWaitMs`.
 */
export function sdkFetch(
  longestWaitMs: number,
): (url: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    for (const name of [...headers.keys()]) {
      if (!SENT_HEADERS.test(name)) headers.delete(name);
    }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    if (response.ok) return response;

    const answered = new Headers(response.headers);
    const retried = isRetriedStatus(response.status) && (retryAfterMs(answered) ?? 0) <= longestWaitMs;
    answered.set('x-should-retry', String(retried));
    const { status, statusText } = response;
    return new Response(status === 304 ? null : response.body, { status, statusText, headers: answered });
  };
}
