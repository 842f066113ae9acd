import { describe, expect, it } from '@jest/globals';
import { fuseRanks } from './rank-fusion.js';

describe('fuseRanks', () => {
  it('sums 1 / (60 + rank) over the lists that hold an id', () => {
    expect(
      fuseRanks([
        { arm: 'vector', ids: ['a', 'b'] },
        { arm: 'lexical', ids: ['b', 'c'] },
      ]),
    ).toEqual([
      { id: 'b', score: 1 / 62 + 1 / 61, arms: ['vector', 'lexical'] },
      { id: 'a', score: 1 / 61, arms: ['vector'] },
      { id: 'c', score: 1 / 62, arms: ['lexical'] },
    ]);
  });

  it('orders equal scores by id, whichever list came first', () => {
    const one = { arm: 'one', ids: ['z'] };
    const two = { arm: 'two', ids: ['a'] };
    expect(fuseRanks([one, two]).map(({ id }) => id)).toEqual(['a', 'z']);
    expect(fuseRanks([two, one]).map(({ id }) => id)).toEqual(['a', 'z']);
  });

  it('weighs a list as a whole', () => {
    const [first] = fuseRanks([
      { arm: 'strong', ids: ['a', 'b'] },
      { arm: 'weak', ids: ['b'], weight: 0.001 },
    ]);
    expect(first?.id).toBe('a');
  });

  it('counts an id that a list repeats once, at its first rank', () => {
    expect(fuseRanks([{ arm: 'one', ids: ['a', 'a', 'b'] }])).toEqual([
      { id: 'a', score: 1 / 61, arms: ['one'] },
      { id: 'b', score: 1 / 62, arms: ['one'] },
    ]);
  });

  it('is empty without lists', () => {
    expect(fuseRanks([])).toEqual([]);
    expect(fuseRanks([{ arm: 'one', ids: [] }])).toEqual([]);
  });
});
