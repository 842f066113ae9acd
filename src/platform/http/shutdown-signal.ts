import { setMaxListeners } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/**
 * Says that the service stops: whoever waits for something long gives `signal` to it. Aborted before anything else is
 * stopped, so that what was asked can still be answered.
 */
@Injectable()
export class ShutdownSignal implements OnModuleDestroy {
  private readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;

  constructor() {
    // Each call under way listens to it.
    setMaxListeners(Infinity, this.signal);
  }

  /** May be called again. */
  abort(): void {
    this.controller.abort();
  }

  onModuleDestroy(): void {
    this.abort();
  }
}
