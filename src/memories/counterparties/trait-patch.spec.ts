import { describe, expect, it } from '@jest/globals';
import { readTraitEdit, traitEditProblem } from './trait-edit.js';
import { isEmptyPatch, readPatch } from './trait-patch.js';

describe('what a model says of somebody', () => {
  it('is cleaned: one line, bounds, each value once', () => {
    const { traits, noLonger } = readPatch([
      { key: '  style ', values: ['short\n\nanswers', 'Short  answers.', '', '   ', 'x'.repeat(500)] },
      { key: 'office', values: 'Berlin', no_longer: ['Paris'] },
      { key: 'floor', values: [3, true, null, {}, ['nested']] },
      { key: 'k'.repeat(100), values: ['v'] },
    ]);
    expect(traits).toEqual({
      style: ['short answers', 'x'.repeat(200)],
      office: ['Berlin'],
      floor: ['3', 'true'],
      ['k'.repeat(64)]: ['v'],
    });
    expect(noLonger).toEqual({ office: ['Paris'] });
  });

  it('has at most sixteen keys and twenty values, never half an emoji', () => {
    const many = Array.from({ length: 40 }, (_, n) => ({ key: `key_${n}`, values: ['x'] }));
    expect(Object.keys(readPatch(many).traits)).toHaveLength(16);
    const values = Array.from({ length: 40 }, (_, n) => `value ${n}`);
    expect(readPatch([{ key: 'topics', values }]).traits.topics).toHaveLength(20);
    const [clipped] = readPatch([{ key: 'mood', values: [`x${'🦊'.repeat(200)}`] }]).traits.mood!;
    expect(clipped!.isWellFormed()).toBe(true);
    expect(clipped!.length).toBeLessThanOrEqual(200);
  });

  it('joins what stands under one key twice', () => {
    expect(
      readPatch([
        { key: 'topics', values: ['a'] },
        { key: 'Topics', values: ['b', 'A'] },
      ]).traits,
    ).toEqual({
      topics: ['a', 'b'],
    });
  });

  it.each([
    [[]],
    [[null, 3, 'x', [], {}]],
    [[{ key: 3, values: ['x'] }]],
    [[{ key: 'x' }]],
    [[{ key: ' ', values: ['x'] }]],
  ])('is nothing: %j', (items: unknown[]) => {
    expect(isEmptyPatch(readPatch(items))).toBe(true);
  });
});

describe('what an operator says of somebody', () => {
  it('is a text, texts, or the values as they are shown; null removes', () => {
    const traits = { role: 'buyer', topics: ['a', { value: 'b', count: 2, last_seen_at: 'x' }], gone: null };
    expect(traitEditProblem(traits)).toBeNull();
    expect(readTraitEdit(traits)).toEqual({ role: ['buyer'], topics: ['a', 'b'], gone: [] });
  });

  it.each([
    [null],
    [[]],
    ['x'],
    [{ '': ['x'] }],
    [{ ['k'.repeat(65)]: ['x'] }],
    [{ role: [3] }],
    [{ role: [''] }],
    [{ role: ['x'.repeat(201)] }],
    [{ role: [{ value: 3 }] }],
    [{ topics: Array.from({ length: 21 }, (_, n) => `t${n}`) }],
    [Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ['x']]))],
  ])('is refused: %j', (traits: unknown) => {
    expect(traitEditProblem(traits)).toMatch(/\S/);
  });
});
