import type { EventRow } from './event.store.js';

export interface BufferBounds {
  /** Events. */
  events: number;
  /** Characters of JSON. */
  characters: number;
}

/** Events that wait to be written, in order. What comes when it is full is turned away, so that memory stays bounded. */
export class EventBuffer {
  private rows: EventRow[] = [];
  private characters = 0;

  constructor(private readonly bounds: BufferBounds) {}

  get size(): number {
    return this.rows.length;
  }

  /** False where there was no room. */
  add(row: EventRow): boolean {
    const { events, characters } = this.bounds;
    if (this.rows.length >= events || this.characters + row.json.length > characters) return false;
    this.rows.push(row);
    this.characters += row.json.length;
    return true;
  }

  /** The first rows that together stay within `bounds`; at least one where there is any. They stay until removed. */
  head(bounds: BufferBounds): EventRow[] {
    let characters = 0;
    const end = this.rows.findIndex((row, index) => {
      characters += row.json.length;
      return index > 0 && (index >= bounds.events || characters > bounds.characters);
    });
    return end < 0 ? [...this.rows] : this.rows.slice(0, end);
  }

  /** Drops the first `count` rows. */
  remove(count: number): void {
    for (const row of this.rows.splice(0, count)) this.characters -= row.json.length;
  }

  ids(): string[] {
    return this.rows.map(({ id }) => id);
  }
}
