import { describe, expect, it } from '@jest/globals';
import { containment, wordShingles } from './text-similarity.js';

const alike = (a: string, b: string): number => containment(wordShingles(a), wordShingles(b));

describe('wordShingles', () => {
  it.each([
    ['', []],
    [' -- \n', []],
    ['Look', ['look']],
    ['Look up', ['look up']],
    ['Look up, the ORDER!', ['look up the', 'up the order']],
    ['1. `get_order`:  done', ['1 get_order done']],
    ['取消订单', ['取 消 订', '消 订 单']],
  ])('of %j are %j', (text, shingles) => {
    expect([...wordShingles(text)]).toEqual(shingles);
  });

  it('do not see case, markup, width or composition', () => {
    expect(wordShingles('**Ｃａｆｅ\u0301** Zürich offen')).toEqual(wordShingles('café zürich OFFEN.'));
  });

  it('take long texts, and such without a space, in linear time', () => {
    expect(wordShingles('x'.repeat(100_000)).size).toBe(1);
    expect(wordShingles('a b c d '.repeat(25_000)).size).toBe(4);
  });
});

describe('containment', () => {
  it.each([
    ['the same', 'a b c d', 'a b c d', 1],
    ['the same and something more', 'a b c d', 'x y a b c d z', 1],
    ['something else', 'a b c d', 'e f g h', 0],
    ['the same words the other way round', 'a b c d', 'd c b a', 0],
    ['half', 'a b c d', 'a b c x', 0.5],
    ['nothing', '', 'a b c', 0],
    ['nothing in nothing', '', '', 0],
  ])('%s', (_, a, b, expected) => {
    expect(alike(a, b)).toBe(expected);
    expect(alike(b, a)).toBe(expected);
  });
});
