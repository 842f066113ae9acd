import type { Writable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { ApiKeyStore } from '../../platform/auth/api-key.store.js';
import type { Principal } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ShutdownSignal } from '../../platform/http/shutdown-signal.js';
import { EventFeed } from './event-feed.js';
import { EventStream } from './event-stream.js';
import { type EventFilter, EventReader } from './event.reader.js';

const TICK_MS = 5_000;
const PATIENCE_MS = 30_000;

/** The event streams that this replica serves. */
@Injectable()
export class EventStreams {
  private readonly log = new Logger(EventStreams.name);
  private count = 0;

  constructor(
    private readonly reader: EventReader,
    private readonly feed: EventFeed,
    private readonly keys: ApiKeyStore,
    private readonly settings: Settings,
    private readonly shutdown: ShutdownSignal,
  ) {}

  get open(): number {
    return this.count;
  }

  /** Whether another one would be too many. */
  get full(): boolean {
    return this.count >= this.settings.telemetry.max_streams;
  }

  /**
   * A stream of what comes after `lastEventId`, else from `filter.since` on, else from now on. It counts until `serve` has ended,
   * so that must be called.
   *
   * @throws ApiError 404 `event.not_found` for an id that no event of the organisation has
   */
  async prepare(
    principal: Principal,
    filter: EventFilter,
    lastEventId: string | undefined,
  ): Promise<{ serve(output: Writable): Promise<void> }> {
    this.count += 1;
    let leave: (() => void) | undefined;
    const release = (): void => {
      this.count -= 1;
      leave?.();
    };
    try {
      leave = await this.feed.follow(filter.orgId);
      const position = await this.startOf(filter, lastEventId);
      return { serve: (output) => this.serve({ principal, filter, position, output }).finally(release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  private async startOf(filter: EventFilter, lastEventId: string | undefined): Promise<number> {
    const { orgId, since } = filter;
    const head = this.feed.headOf(orgId);
    if (lastEventId === undefined) return (since && (await this.reader.before(orgId, since))) ?? head;
    const position = await this.reader.positionOf(orgId, lastEventId);
    if (position !== null) return position;
    throw new ApiError(404, 'event.not_found', 'No event that is kept has this id; start without Last-Event-ID.');
  }

  private async serve(stream: {
    principal: Principal;
    filter: EventFilter;
    position: number;
    output: Writable;
  }): Promise<void> {
    const { principal, filter, position, output } = stream;
    const ended = new AbortController();
    const finish = (): void => ended.abort();
    output.once('close', finish).on('error', finish);
    this.shutdown.signal.addEventListener('abort', finish, { once: true });
    if (output.destroyed || this.shutdown.signal.aborted) finish();
    try {
      const end = await new EventStream(this.reader, this.feed, {
        filter,
        position,
        signal: ended.signal,
        tick: TICK_MS,
        patience: PATIENCE_MS,
        mayRead: () => this.keys.holds(principal.keyId),
      }).run(output);
      if (end === 'slow') {
        this.log.warn('a stream of events was ended: its client does not read');
        output.destroy();
      }
    } catch (error) {
      this.log.warn(`a stream of events was ended: ${String(error)}`);
    } finally {
      this.shutdown.signal.removeEventListener('abort', finish);
    }
    output.end();
  }
}
