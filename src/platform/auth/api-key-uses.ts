import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { bestEffort } from '../jobs/best-effort.js';
import { ApiKeyStore } from './api-key.store.js';

/** Milliseconds to which the last use of a key is known: a busy key costs one short write a minute and replica. */
const COARSENESS_MS = 60_000;

/** Notes when keys were last used, beside the requests that use them. */
@Injectable()
export class ApiKeyUses implements OnApplicationShutdown {
  private readonly log = new Logger(ApiKeyUses.name);
  private readonly writing = new Map<string, Promise<void>>();

  constructor(private readonly keys: ApiKeyStore) {}

  /** @param known what the row said when the key was looked up */
  note(id: string, known: Date | null): void {
    const now = new Date();
    if ((known && now.getTime() - known.getTime() < COARSENESS_MS) || this.writing.has(id)) return;
    const write = bestEffort(this.log, `the last use of key ${id} is not noted`, () => this.keys.markUsed(id, now));
    this.writing.set(
      id,
      write.finally(() => this.writing.delete(id)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.writing.values());
  }
}
