import type { ApiClient } from './api-client.js';
import { latestLesson, type Reflection } from './demo-report.js';
import { countsOf, type PostedTurn, replay, type TurnLine } from './replay.js';

const ENDED = new Set(['done', 'skipped', 'dead']);
const POLL_MS = 300;
const LESSON_POLL_MS = 50;
const PROGRESS_STEP = 10;

export interface DemoReplayOptions {
  api: ApiClient;
  turns: readonly TurnLine[];
  agents: readonly string[];
  signal: AbortSignal;
}

/** Seconds since a reading of `performance.now()`, with one decimal. */
export function secondsSince(started: number): string {
  return ((performance.now() - started) / 1_000).toFixed(1);
}

/**
 * Posts the turns and waits until the reflection on each of them has ended, telling how far it is and what the first
 * lesson was.
 */
export async function replayAndReflect(options: DemoReplayOptions): Promise<Reflection[]> {
  const { api, turns, signal } = options;
  const watch = new Watch(options);
  const [answers] = await Promise.all([
    replay({ api, turns, signal, onPosted: (answer) => watch.posted(answer) }).finally(() => watch.allPosted()),
    watch.untilLesson(),
    watch.untilEnded(),
  ]);
  watch.say(`${countsOf(answers)}; all reflections had ended after ${secondsSince(watch.started)} s`);
  return watch.reflections;
}

class Watch {
  readonly started = performance.now();
  private readonly waiting = new Set<string>();
  private readonly ended = new Map<string, Reflection>();
  private answered = 0;
  private complete = false;
  private shown = 0;

  constructor(private readonly options: DemoReplayOptions) {}

  get reflections(): Reflection[] {
    return [...this.ended.values()];
  }

  private get over(): boolean {
    return this.options.signal.aborted || (this.complete && this.waiting.size === 0);
  }

  posted({ turn, turnId, status, problem }: PostedTurn): void {
    this.answered += 1;
    if (status === 'rejected') {
      this.say(`rejected ${turn.turn_id} of ${turn.agent}: ${problem}`);
      return;
    }
    // A turn posted again is reflected on again.
    this.ended.delete(turnId);
    this.waiting.add(turnId);
  }

  allPosted(): void {
    this.complete = true;
  }

  /** Apart from the rest, so that the first lesson is told when it is there. */
  async untilLesson(): Promise<void> {
    const { api, agents } = this.options;
    while (!this.over) {
      for (const agent of agents) {
        const lesson = await latestLesson(api, agent);
        if (lesson === null) continue;
        this.say(`first lesson after ${secondsSince(this.started)} s: ${lesson}`);
        return;
      }
      await pause(LESSON_POLL_MS);
    }
  }

  async untilEnded(): Promise<void> {
    while (!this.over) {
      await this.lookForEnds();
      this.progress();
      await pause(POLL_MS);
    }
  }

  say(line: string): void {
    process.stdout.write(`${process.stdout.isTTY ? '\r\x1b[K' : ''}  ${line}\n`);
  }

  private async lookForEnds(): Promise<void> {
    for (const turnId of this.waiting) {
      if (this.options.signal.aborted) return;
      const path = `/turns/${turnId}`;
      const { reflection } = await this.options.api.call<{ reflection: Reflection }>('GET', path);
      if (!ENDED.has(reflection.status)) continue;
      this.waiting.delete(turnId);
      this.ended.set(turnId, reflection);
    }
  }

  private progress(): void {
    const { turns } = this.options;
    const known = this.ended.size + this.waiting.size;
    const line = `posted ${this.answered}/${turns.length}, reflected on ${this.ended.size}/${known}`;
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${line}`);
    else if (this.ended.size >= this.shown + PROGRESS_STEP || (this.complete && this.waiting.size === 0)) {
      this.shown = this.ended.size;
      this.say(line);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
