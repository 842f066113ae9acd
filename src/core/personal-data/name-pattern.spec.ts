import { describe, expect, it } from '@jest/globals';
import { ERASED, namePattern, roughSqlPattern, searchableNames } from './name-pattern.js';

const redact = (text: string, ...names: string[]): string => namePattern(searchableNames(names))?.replace(text) ?? text;

describe('a name', () => {
  it.each([
    [
      'Alice wrote to ALICE, "alice" and (aLiCe).',
      ['Alice'],
      `${ERASED} wrote to ${ERASED}, "${ERASED}" and (${ERASED}).`,
    ],
    [
      "Alice's order; @alice; malice, Alicent, alice_b, alice2",
      ['Alice'],
      `${ERASED}'s order; @${ERASED}; malice, Alicent, alice_b, alice2`,
    ],
    ['Also almost all of it; Al said so, al did not', ['Al'], `Also almost all of it; ${ERASED} said so, al did not`],
    ['A plan by A.', ['A'], 'A plan by A.'],
    ['Anna  Maria\nLópez came', ['Anna Maria López'], `${ERASED} came`],
    ['Jose\u0301 came', ['Jos\u00e9'], `${ERASED} came`],
    ['ИВАН и Иван, не Иванов', ['Иван'], `${ERASED} и ${ERASED}, не Иванов`],
    ['田中さんは来ました', ['田中'], `${ERASED}さんは来ました`],
    ['O’Neil (x) [y] U+42 C++', ['C++', 'U+42'], `O’Neil (x) [y] ${ERASED} ${ERASED}`],
    ['bob.roe@example.com and bob', ['bob', 'bob.roe@example.com'], `${ERASED} and ${ERASED}`],
    ['ZQ-777, ZQ-7777 and a/b', ['ZQ-777', 'a/b'], `${ERASED}, ZQ-7777 and ${ERASED}`],
    ['👩‍💻 Ada 👩‍💻', ['👩‍💻'], `${ERASED} Ada ${ERASED}`],
  ])('in %j', (text, names, expected) => {
    expect(redact(text, ...names)).toBe(expected);
  });

  it('that holds a replacement pattern is only text', () => {
    expect(redact('I am $& today', '$&')).toBe(`I am ${ERASED} today`);
  });

  it('that is blank or a letter is not looked for', () => {
    expect(namePattern(searchableNames(['', ' ', 'x']))).toBeNull();
    expect(roughSqlPattern(searchableNames(['', 'x']))).toBeNull();
  });
});
