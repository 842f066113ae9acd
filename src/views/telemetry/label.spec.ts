import { describe, expect, it } from '@jest/globals';
import { LabelValues } from './label.js';

describe('the value of a label', () => {
  it('is a word of ours, `none`, or `other`', () => {
    const labels = new LabelValues();
    for (const word of ['persist_decider', 'turn.completed', 'x'.repeat(64)]) expect(labels.of('l', word)).toBe(word);
    expect(labels.of('l', null)).toBe('none');
    for (const text of ['', 'two words', 'Zoë', 'x'.repeat(65), 'a"b', 'a\nb'])
      expect(labels.of('l', text)).toBe('other');
  });

  it('is one of a hundred at most, for each label', () => {
    const labels = new LabelValues();
    const values = Array.from({ length: 500 }, (_, index) => labels.of('l', `value-${index}`));
    expect(new Set(values).size).toBe(101);
    expect(labels.of('l', 'value-7')).toBe('value-7');
    expect(labels.of('m', 'value-499')).toBe('value-499');
  });
});
