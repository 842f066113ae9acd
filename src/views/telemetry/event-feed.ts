import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { EventReader } from './event.reader.js';
import { EventRecorder } from './event-recorder.js';

/** Milliseconds between two looks for what other replicas wrote: the bound of the latency of a stream. */
const POLL_MS = 500;

/** What wakes the streams of this replica: one look at the store serves all of them, and none is made without a stream. */
@Injectable()
export class EventFeed implements OnModuleInit {
  private readonly log = new Logger(EventFeed.name);
  private readonly heads = new Map<string, number>();
  private readonly followers = new Map<string, number>();
  private readonly waiting = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private blind = false;

  constructor(
    private readonly reader: EventReader,
    private readonly recorder: EventRecorder,
  ) {}

  onModuleInit(): void {
    this.recorder.onWritten(() => void this.look());
  }

  /** Follows an organisation's events until the answered function is called; its head is known from then on. */
  async follow(orgId: string): Promise<() => void> {
    this.followers.set(orgId, (this.followers.get(orgId) ?? 0) + 1);
    const leave = (): void => this.leave(orgId);
    try {
      this.learn(await this.reader.heads([orgId]));
    } catch (error) {
      leave();
      throw error;
    }
    this.schedule();
    return leave;
  }

  /** The last position of an organisation that is followed: all that is visible up to it was visible when it was read. */
  headOf(orgId: string): number {
    return this.heads.get(orgId) ?? 0;
  }

  /** Waits until the head has passed `seen`, at most `limitMs`, or until `signal` aborts. */
  async news(orgId: string, seen: number, limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.headOf(orgId) > seen || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.waiting.delete(check);
        resolve();
      };
      const check = (): void => {
        if (this.headOf(orgId) > seen) end();
      };
      const timer = setTimeout(end, limitMs);
      signal.addEventListener('abort', end);
      this.waiting.add(check);
    });
  }

  private leave(orgId: string): void {
    const left = (this.followers.get(orgId) ?? 1) - 1;
    if (left > 0) {
      this.followers.set(orgId, left);
      return;
    }
    this.followers.delete(orgId);
    this.heads.delete(orgId);
    if (this.followers.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    if (this.followers.size === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.look().then(() => this.schedule());
    }, POLL_MS);
  }

  private look(): Promise<void> {
    if (this.followers.size === 0) return Promise.resolve();
    this.looking ??= this.readHeads().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async readHeads(): Promise<void> {
    try {
      this.learn(await this.reader.heads([...this.followers.keys()]));
      this.blind = false;
    } catch (error) {
      if (!this.blind) this.log.warn(`streams of events learn of nothing new for now: ${String(error)}`);
      this.blind = true;
    }
  }

  private learn(heads: ReadonlyMap<string, number>): void {
    for (const [orgId, head] of heads) {
      if (this.followers.has(orgId)) this.heads.set(orgId, Math.max(head, this.headOf(orgId)));
    }
    for (const check of [...this.waiting]) check();
  }
}
