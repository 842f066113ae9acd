import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { withSignal } from '../../platform/outbound/deadline.js';
import type { EventFeed } from './event-feed.js';
import type { EventFilter, EventReader, EventView } from './event.reader.js';

/** Events that are read at a time: with the bound of a payload, what one connection can hold in memory. */
const PAGE = 100;

export interface StreamOptions {
  filter: EventFilter;
  /** Events after this position are sent. */
  position: number;
  /** Milliseconds after which something is sent, and the key asked for, whatever happens. */
  tick: number;
  /** Milliseconds that a client may take to read what was sent. */
  patience: number;
  /** Whether the key that the stream was opened with still holds. */
  mayRead(): Promise<boolean>;
  signal: AbortSignal;
}

/** Ends a stream that its client may go on with elsewhere. */
export type StreamEnd = 'aborted' | 'key' | 'slow';

/**
 * One connection of `GET /events/stream`. It reads page after page from the store at the pace of its client, so no event is
 * buffered for one that is slow, and what any replica wrote is found.
 */
export class EventStream {
  constructor(
    private readonly reader: EventReader,
    private readonly feed: EventFeed,
    private readonly options: StreamOptions,
  ) {}

  /** Sends until something ends it. Throws where the store cannot be read: the client comes again and goes on. */
  async run(output: Writable): Promise<StreamEnd> {
    const { filter, signal, tick } = this.options;
    let { position } = this.options;
    if (!(await this.send(output, 'retry: 2000\n: events\n\n'))) return this.cause();
    for (;;) {
      // Read before the page: with no event left in the page, all up to here has been looked at.
      const head = this.feed.headOf(filter.orgId);
      const found = await this.reader.after(filter, position, PAGE);
      if (signal.aborted) return 'aborted';
      if (!(await this.options.mayRead())) return 'key';
      for (const { event, position: at } of found) {
        if (!(await this.send(output, frameOf(event)))) return this.cause();
        position = at;
      }
      if (found.length === PAGE) continue;
      position = Math.max(position, head);
      await this.feed.news(filter.orgId, head, tick, signal);
      if (signal.aborted) return 'aborted';
      if (this.feed.headOf(filter.orgId) > head) continue;
      if (!(await this.send(output, ': still here\n\n'))) return this.cause();
    }
  }

  /** False where the client does not take it. */
  private async send(output: Writable, text: string): Promise<boolean> {
    if (this.options.signal.aborted) return false;
    if (output.write(text)) return true;
    try {
      await withSignal(this.options.patience, this.options.signal, (signal) => once(output, 'drain', { signal }));
      return true;
    } catch {
      return false;
    }
  }

  private cause(): StreamEnd {
    return this.options.signal.aborted ? 'aborted' : 'slow';
  }
}

/** Without an `event:` line, so that a browser's `onmessage` hears every type; the type stands in the data. */
export function frameOf(event: EventView): string {
  return `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;
}
