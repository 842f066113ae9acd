import { describe, expect, it } from '@jest/globals';
import { EMBEDDING_TEXT_LIMIT, embeddingText } from './embedding-text.js';

describe('the text that is embedded', () => {
  it('is the text as it is, white space kept', () => {
    expect(embeddingText('  a\n\n b\t')).toBe('  a\n\n b\t');
  });

  it('is its beginning where it is long', () => {
    expect(embeddingText('x'.repeat(100_000))).toHaveLength(EMBEDDING_TEXT_LIMIT);
  });

  it('never holds half a character', () => {
    const long = `${'x'.repeat(EMBEDDING_TEXT_LIMIT - 1)}😀`;
    expect(embeddingText(long)).toBe('x'.repeat(EMBEDDING_TEXT_LIMIT - 1));
    expect(embeddingText('a\ud800b\u0000')).toBe('a\uFFFDb\uFFFD');
    const family = '👩‍👩‍👧 é 🇩🇪';
    expect(embeddingText(family)).toBe(family);
  });

  it.each(['', '   ', '\n', '\uFEFF'])('is never blank: %j', (text) => {
    expect(embeddingText(text)).toBe('.');
  });
});
