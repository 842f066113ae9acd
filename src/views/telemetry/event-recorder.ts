import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { AnyEvent } from '../../platform/events/app-events.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { withDeadline } from '../../platform/outbound/deadline.js';
import { EventBuffer } from './event-buffer.js';
import { EventStore, type EventRow } from './event.store.js';
import './telemetry.observations.js';

/** A few seconds of a busy replica, and a few hours of an idle one. */
const BUFFER = { events: 10_000, characters: 32 * 1024 * 1024 };
const BATCH = { events: 500, characters: 4 * 1024 * 1024 };
/** Milliseconds that events wait for others, to be written together. */
const GATHER_MS = 100;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds that a shutdown waits for the last events. */
const FAREWELL_MS = 5_000;

/**
 * Writes every published event to the store, whatever its type: off the path of whoever published it, in batches, one at a
 * time. Best effort (mission, "Best-effort rule"): what cannot be written now waits in a bounded buffer, what cannot be
 * written at all is named in the log, and nobody else notices.
 */
@Injectable()
export class EventRecorder implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new Logger(EventRecorder.name);
  private readonly buffer = new EventBuffer(BUFFER);
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  /** Of the pause after a failed write; 0 while writes succeed. */
  private pause = 0;
  /** Events that were turned away since the last write. */
  private turnedAway = 0;
  private ending = false;

  constructor(
    private readonly events: EventBus,
    private readonly store: EventStore,
  ) {}

  onModuleInit(): void {
    this.events.onEvery((event) => this.record(event));
  }

  /** Events that wait to be written. */
  get waiting(): number {
    return this.buffer.size;
  }

  /** Calls `listener` after every write of this process. */
  onWritten(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Writes what has been published so far. Rejects where the store cannot be written to. */
  async flush(): Promise<void> {
    do {
      this.writing ??= this.write().finally(() => (this.writing = undefined));
      await this.writing;
    } while (this.buffer.size > 0);
  }

  /** The last to publish have ended by now; the database is still there. */
  async onApplicationShutdown(): Promise<void> {
    this.ending = true;
    clearTimeout(this.timer);
    try {
      await withDeadline(FAREWELL_MS, undefined, () => this.flush());
    } catch (error) {
      this.lose(this.buffer.ids(), 'shutdown', messageOf(error));
    }
  }

  private record(event: AnyEvent): void {
    let row: EventRow;
    try {
      row = this.store.rowOf(event);
    } catch (error) {
      this.lose([event.id], 'unusable', String(error));
      return;
    }
    if (this.buffer.add(row)) this.schedule(this.pause || GATHER_MS);
    else this.turnAway(event.id);
  }

  private schedule(milliseconds: number): void {
    if (this.ending) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // What went wrong has been said, and the next try is scheduled.
      this.flush().catch(() => undefined);
    }, milliseconds);
    this.timer.unref();
  }

  private async write(): Promise<void> {
    try {
      while (this.buffer.size > 0) await this.writeBatch();
      if (this.pause > 0) this.recovered();
    } catch (error) {
      this.failed(error);
      this.schedule(this.pause);
      throw error;
    }
  }

  private async writeBatch(): Promise<void> {
    const batch = this.buffer.head(BATCH);
    try {
      await this.store.append(batch);
    } catch (error) {
      if (!isOfTheRow(error)) throw error;
      await this.writeOneByOne(batch);
    }
    this.buffer.remove(batch.length);
    this.events.observe('events.written', { events: batch.length });
    for (const listener of this.listeners) listener();
  }

  /** One row that the database refuses must not keep the others from it. */
  private async writeOneByOne(batch: readonly EventRow[]): Promise<void> {
    for (const row of batch) {
      try {
        await this.store.append([row]);
      } catch (error) {
        if (!isOfTheRow(error)) throw error;
        this.lose([row.id], 'unusable', String(error));
      }
    }
  }

  /** Said once an outage, not once a try. */
  private failed(error: unknown): void {
    this.events.observe('event_store.failed', {});
    if (this.pause === 0) {
      const [first] = this.buffer.ids();
      this.log.warn(`events are not stored for now, from ${first} on: ${messageOf(error)}`);
    }
    this.pause = Math.min(this.pause * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  }

  private recovered(): void {
    this.log.log(`events are stored again; ${this.turnedAway} found no room meanwhile`);
    this.pause = 0;
    this.turnedAway = 0;
  }

  private turnAway(id: string): void {
    this.turnedAway += 1;
    this.events.observe('events.lost', { events: 1, cause: 'no_room' });
    if (this.turnedAway === 1) this.log.warn(`there is no room for more events: lost are ${id} and those after it`);
  }

  private lose(ids: readonly string[], cause: 'unusable' | 'shutdown', message: string): void {
    if (ids.length === 0) return;
    this.events.observe('events.lost', { events: ids.length, cause });
    const named = ids.length > 20 ? `${ids.slice(0, 20).join(', ')} and ${ids.length - 20} more` : ids.join(', ');
    this.log.warn(`${ids.length} events are lost (${named}): ${message}`);
  }
}

/** Classes of SQLSTATE: data exceptions and violated constraints; anything else is the store's own trouble and passes. */
function isOfTheRow(error: unknown): boolean {
  const code = (error as { driverError?: { code?: unknown } } | null)?.driverError?.code;
  return typeof code === 'string' && /^2[23]/.test(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
