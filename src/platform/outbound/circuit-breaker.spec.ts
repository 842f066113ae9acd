import { describe, expect, it } from '@jest/globals';
import { CircuitBreaker } from './circuit-breaker.js';

function breakerAt(clock: { now: number }): CircuitBreaker {
  return new CircuitBreaker({ threshold: 5, coolDownMs: 30_000, now: () => clock.now });
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.enter()!.failed();
}

describe('the circuit breaker', () => {
  it('opens at the fifth failure in a row, for 30 s', () => {
    const clock = { now: 1_000 };
    const breaker = breakerAt(clock);
    fail(breaker, 4);
    expect(breaker.enter()).not.toBeNull();
    fail(breaker, 1);
    expect(breaker.enter()).toBeNull();
    expect(breaker.retryAt).toEqual(new Date(31_000));
    clock.now = 30_999;
    expect(breaker.enter()).toBeNull();
    clock.now = 31_000;
    expect(breaker.enter()).not.toBeNull();
  });

  it('counts in a row: a success begins anew, a neutral end changes nothing', () => {
    const breaker = breakerAt({ now: 0 });
    fail(breaker, 4);
    breaker.enter()!.succeeded();
    fail(breaker, 4);
    breaker.enter()!.endedNeutrally();
    expect(breaker.enter()).not.toBeNull();
    fail(breaker, 1);
    expect(breaker.enter()).toBeNull();
  });

  it('lets one probe through, whose success closes it', () => {
    const clock = { now: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, 5);
    clock.now = 30_000;
    const probe = breaker.enter()!;
    expect(breaker.enter()).toBeNull();
    expect(breaker.retryAt).toEqual(new Date(60_000));
    probe.succeeded();
    expect(breaker.enter()).not.toBeNull();
    fail(breaker, 4);
    expect(breaker.enter()).not.toBeNull();
  });

  it('opens again when the probe fails', () => {
    const clock = { now: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, 5);
    clock.now = 40_000;
    breaker.enter()!.failed();
    expect(breaker.enter()).toBeNull();
    expect(breaker.retryAt).toEqual(new Date(70_000));
  });

  it('lets another probe through when the first one said nothing', () => {
    const clock = { now: 0 };
    const breaker = breakerAt(clock);
    fail(breaker, 5);
    clock.now = 30_000;
    breaker.enter()!.endedNeutrally();
    expect(breaker.enter()).not.toBeNull();
    expect(breaker.enter()).toBeNull();
  });

  it('is not kept open by calls that began before it opened', () => {
    const clock = { now: 0 };
    const breaker = breakerAt(clock);
    const late = breaker.enter()!;
    fail(breaker, 5);
    clock.now = 20_000;
    late.failed();
    clock.now = 30_000;
    expect(breaker.enter()).not.toBeNull();
  });
});
