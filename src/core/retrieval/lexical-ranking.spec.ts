import { describe, expect, it } from '@jest/globals';
import { rankLexically, type LexicalRow } from './lexical-ranking.js';

const row = (terms: number[], conversation: string | null = null, length = 10): LexicalRow => ({
  conversation,
  length,
  terms,
});

describe('rankLexically', () => {
  it('names nothing where no term is found', () => {
    expect(rankLexically([])).toEqual([]);
    expect(rankLexically([row([]), row([], 'c')])).toEqual([]);
  });

  it('weighs a rare term more than a frequent one', () => {
    expect(rankLexically([row([0]), row([0]), row([0]), row([1])])[0]).toBe(3);
  });

  it('puts a row with more of the terms first, a shorter one before a longer one, the newest of equals first', () => {
    expect(rankLexically([row([0]), row([0, 1]), row([1])])[0]).toBe(1);
    expect(rankLexically([row([0], null, 40), row([0], null, 10)])).toEqual([1, 0]);
    expect(rankLexically([row([0]), row([0])])).toEqual([1, 0]);
  });

  it('lends a term to the rows within three places of the same conversation, the nearer the more', () => {
    const rows = [row([], 'c'), row([], 'c'), row([], 'c'), row([], 'c'), row([0], 'c')];
    expect(rankLexically(rows)).toEqual([4, 3, 2, 1]);
  });

  it('lends across what another conversation wrote in between, and never to it', () => {
    const rows = [row([0], 'a'), row([], 'b'), row([], null), row([], 'a')];
    expect(rankLexically(rows)).toEqual([0, 3]);
  });

  it('does not count a term twice that several neighbours lend', () => {
    const surrounded = [row([0], 'a'), row([], 'a'), row([0], 'a')];
    const own = [row([0], 'b')];
    const ranked = rankLexically([...surrounded, ...own]);
    expect(ranked.indexOf(3)).toBeLessThan(ranked.indexOf(1));
  });

  it('adds up what different neighbours lend of different terms', () => {
    expect(rankLexically([row([0], 'a'), row([2], 'a'), row([1], 'a'), row([2], 'b'), row([3])])[0]).toBe(1);
  });
});
