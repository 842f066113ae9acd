import { describe, expect, it } from '@jest/globals';
import { EventBuffer } from './event-buffer.js';

const row = (id: string, length = 10): { id: string; json: string } => ({ id, json: 'x'.repeat(length) });
const wide = { events: 100, characters: 1_000 };

describe('the buffer of events', () => {
  it('turns away what it has no room for, by number and by length, and has room again', () => {
    const buffer = new EventBuffer({ events: 3, characters: 25 });
    expect([row('a'), row('b'), row('c'), row('d', 5), row('e', 1)].map((each) => buffer.add(each))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(buffer.ids()).toEqual(['a', 'b', 'd']);
    buffer.remove(2);
    expect(buffer.add(row('f', 20))).toBe(true);
    expect(buffer.add(row('g', 1))).toBe(false);
  });

  it('hands out its head within bounds, at least one row, in order', () => {
    const buffer = new EventBuffer(wide);
    expect(buffer.head(wide)).toEqual([]);
    for (const id of ['a', 'b', 'c', 'd']) buffer.add(row(id));
    const ids = (events: number, characters: number): string[] =>
      buffer.head({ events, characters }).map(({ id }) => id);
    expect(ids(2, 1_000)).toEqual(['a', 'b']);
    expect(ids(100, 30)).toEqual(['a', 'b', 'c']);
    expect(ids(100, 39)).toEqual(['a', 'b', 'c']);
    expect(ids(100, 40)).toEqual(['a', 'b', 'c', 'd']);
    expect(ids(1, 1)).toEqual(['a']);
    expect(buffer.size).toBe(4);
  });
});
