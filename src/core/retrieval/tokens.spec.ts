import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { searchColumns } from './search-columns.js';
import { searchTokens } from './tokens.js';

describe('searchTokens', () => {
  it.each([
    ['Chinese', '客户喜欢简短的回复', ['简短', '客户', '复']],
    ['Chinese, cut otherwise by the segmenter', '研究生命起源', ['生命', '研究']],
    ['Japanese', '東京都に住んでいます。プロジェクトは延期', ['京都', 'プロジェクト', '延期']],
    ['Korean, without its particle', '서울에서 회의가 있습니다', ['서울', '회의']],
    ['Thai', 'ลูกค้าชอบคำตอบสั้นๆ', ['ลูกค้า', 'ชอบ']],
    ['Arabic', 'العميل يفضل الردود القصيرة', ['العميل', 'القصيرة']],
    ['Russian', 'Клиент предпочитает короткие ответы', ['ответы', 'Клиент']],
    ['Hindi', 'ग्राहक छोटे उत्तर पसंद करता है', ['उत्तर']],
    ['full width', 'ＡＢＣ１２３ の話', ['abc123']],
    ['a radical that is a symbol', '⺀ 部首', ['部首']],
  ])('%s: finds its words', (_language, sentence, searched) => {
    const stored = new Set(searchTokens(sentence));
    for (const word of searched) {
      expect(searchTokens(word, 'query').filter((token) => stored.has(token))).not.toEqual([]);
    }
  });

  it.each([
    ['PR-123', ['pr', '123', 'pr123']],
    ['user_id', ['user', 'id', 'userid']],
    ['userId', ['userid', 'user', 'id']],
    ['HTTPServer', ['httpserver', 'http', 'server']],
    ['C#', ['c', 'csharp']],
    ['C++', ['c', 'cplusplus']],
    ['bob@example.com', ['bob', 'example', 'com', 'bobexamplecom']],
    ['Café', ['café', 'cafe']],
    ['Straße', ['straße', 'strasse']],
    ["don't", ['don', 't', 'dont']],
    ['don’t', ['don', 't', 'dont']],
    ['e\u0301te\u0301', ['été', 'ete']],
  ])('%s gives its parts and the whole', (text, tokens) => {
    expect(searchTokens(text)).toEqual(tokens);
  });

  it.each(['', ' \n', '🚀 👩‍👩‍👧', '?!…', '\u200b'])('%j has no word', (text) => {
    expect(searchTokens(text, 'query')).toEqual([]);
  });

  it('keeps the first of equal tokens, whatever their case', () => {
    expect(searchTokens('Tea, TEA and tea')).toEqual(['tea', 'and']);
  });

  it('asks for single ideographs only where they are the query', () => {
    expect(searchTokens('小猫')).toContain('猫');
    expect(searchTokens('小猫', 'query')).not.toContain('猫');
    expect(searchTokens('猫', 'query')).toEqual(['猫']);
  });

  it('finds the last word of 100,000 characters, in time that grows with the text alone', () => {
    const hostile = [
      'lorem ipsum '.repeat(8_300),
      'a'.repeat(100_000),
      '-'.repeat(100_000),
      `a${'-'.repeat(60)}`.repeat(1_600),
      'aB'.repeat(50_000),
      '漢字'.repeat(50_000),
    ];
    const start = performance.now();
    for (const text of hostile) expect(searchTokens(`${text} needle`)).toContain('needle');
    // the segmenter alone would take a minute in one go
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('stays within what a tsvector can hold', () => {
    const ideographs = Array.from({ length: 200_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
    );
    const { search, length } = searchColumns(ideographs.join(''));
    expect(length).toBeLessThanOrEqual(40_000);
    // a tsvector takes up to six bytes a lexeme beside its text
    expect(Buffer.byteLength(search) + 6 * length).toBeLessThan(1_048_575);
    expect(searchTokens('x'.repeat(600))).toEqual([]);
  });

  it('gives letters, marks and digits alone, and never half a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const token of searchTokens(text)) {
          expect(token).toMatch(/^[\p{L}\p{N}\p{M}]+$/u);
          expect(token.isWellFormed()).toBe(true);
        }
      }),
    );
    expect(searchTokens(`${'𠮷'.repeat(700)}`).every((token) => token.isWellFormed())).toBe(true);
  });
});
