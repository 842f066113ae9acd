import { describe, expect, it } from '@jest/globals';
import { Cancelled, OutOfTime, withDeadline } from './deadline.js';

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
