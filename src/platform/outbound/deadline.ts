import { setMaxListeners } from 'node:events';

/** The time ran out: the limit given here, or the caller's own where `callersOwn`. */
export class OutOfTime extends Error {
  constructor(
    message: string,
    readonly callersOwn: boolean,
  ) {
    super(message);
    this.name = 'OutOfTime';
  }
}

/** The caller no longer wants the answer. */
export class Cancelled extends Error {
  constructor() {
    super('the call was cancelled');
    this.name = 'Cancelled';
  }
}

/**
 * Runs `work` for at most `limitMs`, or until `outer` aborts. Rejects at that moment, whether or not `work` heeds its
 * signal: the OpenAI SDK sleeps through it between two attempts.
 */
export async function withDeadline<Result>(
  limitMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (outer?.aborted) throw abortOf(outer);
  const controller = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error));
  });
  const onAbort = (): void => controller.abort(abortOf(outer!));
  const onTimeout = (): void => controller.abort(new OutOfTime(`no answer within ${limitMs / 1000} s`, false));
  const timer = setTimeout(onTimeout, limitMs);
  outer?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}

/**
 * Runs `work` with a signal that aborts after `limitMs` and with `outer`, and waits for it, however it heeds the signal. Not
 * `AbortSignal.any`: in Node 20 a signal that lives as long as the process keeps a reference to every one made of it.
 */
export async function withSignal<Result>(
  limitMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  setMaxListeners(Infinity, controller.signal);
  const follow = (): void => controller.abort(outer.reason);
  const expire = (): void => controller.abort(new DOMException(`no end within ${limitMs / 1000} s`, 'TimeoutError'));
  if (outer.aborted) follow();
  const timer = setTimeout(expire, limitMs);
  outer.addEventListener('abort', follow, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', follow);
  }
}

function abortOf(signal: AbortSignal): Error {
  const reason = signal.reason as { name?: unknown } | null | undefined;
  return reason?.name === 'TimeoutError'
    ? new OutOfTime("no answer within the caller's own time", true)
    : new Cancelled();
}
