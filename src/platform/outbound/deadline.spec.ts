import { getMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { ShutdownSignal } from '../http/shutdown-signal.js';
import { Cancelled, OutOfTime, withDeadline, withSignal } from './deadline.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('a deadline', () => {
  it('hands on what comes in time', async () => {
    await expect(withDeadline(1_000, undefined, async () => 7)).resolves.toBe(7);
    await expect(withDeadline(1_000, undefined, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
  });

  it('ends work that does not heed its signal', async () => {
    let signal: AbortSignal | undefined;
    const call = withDeadline(10, undefined, (given) => {
      signal = given;
      return never();
    });
    await expect(call).rejects.toEqual(new OutOfTime('no answer within 0.01 s', false));
    expect(signal!.aborted).toBe(true);
  });

  it('tells a caller that gave up from one whose own time ran out', async () => {
    const caller = new AbortController();
    const call = withDeadline(1_000, caller.signal, never);
    caller.abort();
    await expect(call).rejects.toBeInstanceOf(Cancelled);
    await expect(withDeadline(1_000, caller.signal, never)).rejects.toBeInstanceOf(Cancelled);
    await expect(withDeadline(1_000, AbortSignal.timeout(1), never)).rejects.toMatchObject({ callersOwn: true });
  });

  it('leaves nothing on the signal of the caller', async () => {
    const { signal } = new AbortController();
    let listening = 0;
    signal.addEventListener = () => void (listening += 1);
    signal.removeEventListener = () => void (listening -= 1);
    await withDeadline(1_000, signal, async () => 1);
    await withDeadline(1, signal, never).catch(() => undefined);
    expect(listening).toBe(0);
  });
});

describe('a signal for a while', () => {
  const aborted = (signal: AbortSignal): Promise<unknown> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve(signal.reason);
      else signal.addEventListener('abort', () => resolve(signal.reason));
    });

  it('aborts when the time is up, and with the outer one, whose reason it has', async () => {
    const { signal } = new AbortController();
    await expect(withSignal(5, signal, aborted)).resolves.toMatchObject({ name: 'TimeoutError' });
    const outer = new AbortController();
    const ended = withSignal(10_000, outer.signal, aborted);
    outer.abort('stopping');
    await expect(ended).resolves.toBe('stopping');
    await expect(withSignal(10_000, outer.signal, aborted)).resolves.toBe('stopping');
  });

  it('may be listened to by any number', async () => {
    const { signal } = new ShutdownSignal();
    expect(getMaxListeners(signal)).toBe(Infinity);
    await withSignal(1_000, signal, async (given) => expect(getMaxListeners(given)).toBe(Infinity));
  });

  it('waits for work that does not heed it', async () => {
    const { signal } = new AbortController();
    const late = async (given: AbortSignal): Promise<string> => {
      await aborted(given);
      return 'late';
    };
    await expect(withSignal(1, signal, late)).resolves.toBe('late');
  });

  it('leaves nothing on an outer one that outlives it', async () => {
    const { signal } = new AbortController();
    let listening = 0;
    signal.addEventListener = () => void (listening += 1);
    signal.removeEventListener = () => void (listening -= 1);
    await withSignal(1_000, signal, async () => 1);
    await withSignal(1_000, signal, () => Promise.reject(new Error('own'))).catch(() => undefined);
    expect(listening).toBe(0);
    for (const kept of Object.getOwnPropertySymbols(signal)) {
      const value = (signal as unknown as Record<symbol, unknown>)[kept];
      if (value instanceof Set) expect(value.size).toBe(0);
    }
  });
});
