export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  threshold: number;
  coolDownMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Leave for one call; exactly one of its methods is called when the call has ended. */
export interface BreakerPass {
  succeeded(): void;
  failed(): void;
  /** The call ended in a way that says nothing about the other side. */
  endedNeutrally(): void;
}

/**
 * Stops calling what has failed `threshold` times in a row. After `coolDownMs` one call is let through as a probe:
 * its success closes the breaker, its failure opens it for another `coolDownMs`.
 *
 * Kept per process: it spares waiting, it guards nothing that must be exact across replicas.
 */
export class CircuitBreaker {
  private failuresInARow = 0;
  private openUntil: number | null = null;
  private probing = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  /** When a refused caller may come again. */
  get retryAt(): Date {
    const { now, coolDownMs } = this.options;
    // While a probe is under way its end is not known; what is known is that its failure costs a whole cool-down.
    return new Date(this.probing || this.openUntil === null ? now() + coolDownMs : this.openUntil);
  }

  /** Leave to make one call; null while it is open. */
  enter(): BreakerPass | null {
    if (this.openUntil === null) return this.pass(false);
    if (this.probing || this.options.now() < this.openUntil) return null;
    this.probing = true;
    return this.pass(true);
  }

  private pass(isProbe: boolean): BreakerPass {
    const end = (effect: () => void) => () => {
      if (isProbe) this.probing = false;
      effect();
    };
    return {
      succeeded: end(() => this.close()),
      failed: end(() => this.fail(isProbe)),
      endedNeutrally: end(() => undefined),
    };
  }

  private close(): void {
    this.failuresInARow = 0;
    this.openUntil = null;
  }

  private fail(isProbe: boolean): void {
    this.failuresInARow += 1;
    // Calls that began before it opened may fail after it: they must not keep it open for longer.
    const opens = isProbe || (this.openUntil === null && this.failuresInARow >= this.options.threshold);
    if (opens) this.openUntil = this.options.now() + this.options.coolDownMs;
  }
}
