import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { luceneWords, parseCql } from '../../../test/support/cql.js';
import { pageCql } from './cql.js';
import { containersOf } from './knowledge-scope.js';

const SPACES = ['ENG', 'OPS'];
const RUNS = { numRuns: 10_000 };

/** What breaks out of a literal, of a query or of a parser, among ordinary words. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ...[
      '"',
      '\\',
      '\\"',
      '\\\\"',
      "'",
      '(',
      ')',
      ' OR ',
      ' AND ',
      ' NOT ',
      ' TO ',
      '&&',
      '||',
      '!',
      '*',
      '?',
      '~2',
      '^4',
    ],
    ...[
      'space = "SECRET"',
      'space IN ("SECRET")',
      'x" OR space = "SECRET',
      ' ORDER BY created',
      'type = blogpost',
      ':',
    ],
    ...[
      '{',
      '}',
      '[a TO b]',
      '/re/',
      '+',
      '-',
      '--',
      'C#',
      'C++',
      '\u0000',
      '\ud800',
      '\u2028',
      '\n',
      '\t',
      ' ',
      '\u201c',
    ],
    ...[
      'deploy',
      'POC-518',
      'v1.2',
      '\u90e8\u7f72',
      '\ud83d\udc69\u200d\ud83d\ude80',
      '%22',
      '&limit=9',
      '#',
      ';',
      '<b>',
      '=',
    ],
  ),
);
const query = fc.array(hostile, { maxLength: 12 }).map((parts) => parts.join(''));

describe('the CQL of a search', () => {
  it('is what the contract says', () => {
    expect(pageCql({ spaces: ['ENG'], text: 'deploy freeze' })).toBe(
      'space IN ("ENG") AND type = page AND text ~ "deploy freeze"',
    );
    expect(pageCql({ spaces: ['ENG', 'OPS'], text: 'a' })).toBe(
      'space IN ("ENG","OPS") AND type = page AND text ~ "a"',
    );
    expect(pageCql({ spaces: null, text: 'a' })).toBe('type = page AND text ~ "a"');
  });

  it('never leaves the spaces, whatever is searched for', () => {
    let asked = 0;
    fc.assert(
      fc.property(query, (text) => {
        const cql = pageCql({ spaces: SPACES, text });
        if (cql === null) return;
        asked += 1;
        const parsed = parseCql(cql);
        expect(parsed).toEqual({ spaces: SPACES, types: ['page'], text: parsed.text, orderBy: null });
        expect(luceneWords(parsed.text).length).toBeGreaterThan(0);
        expect(parsed.text.length).toBeLessThanOrEqual(200);
        expect(cql.isWellFormed()).toBe(true);
      }),
      RUNS,
    );
    expect(asked).toBeGreaterThan(RUNS.numRuns / 2);
  });

  it('asks for nothing else where the agent may search everything', () => {
    fc.assert(
      fc.property(query, (text) => {
        const cql = pageCql({ spaces: null, text });
        if (cql === null) return;
        const parsed = parseCql(cql);
        expect(parsed).toEqual({ spaces: null, types: ['page'], text: parsed.text, orderBy: null });
      }),
      RUNS,
    );
  });

  it('names the spaces that are listed, whatever they are called', () => {
    fc.assert(
      fc.property(fc.array(query, { minLength: 1, maxLength: 4 }), (listed) => {
        const spaces = containersOf(listed, true);
        if (!spaces) return;
        expect(parseCql(pageCql({ spaces, text: 'deploy' })!).spaces).toEqual(spaces);
      }),
      RUNS,
    );
  });

  it.each([
    ['x" OR space = "SECRET', 'x or space SECRET'],
    ['C#', 'C#'],
    ['C++ templates', 'C++ templates'],
    ['deploy\\', 'deploy'],
    ['POC-518 v1.2 a_b', 'POC-518 v1.2 a_b'],
    ['-draft +must !not', 'draft must not'],
    ['title:deploy AND (freeze OR thaw)', 'title deploy and freeze or thaw'],
    ['"exact phrase"~3 wild* car?', 'exact phrase 3 wild car'],
    ['/etc/hosts', 'etc hosts'],
    ['50% & more', '50% more'],
  ])('%j asks for %j', (text, words) => {
    expect(parseCql(pageCql({ spaces: SPACES, text })!).text).toBe(words);
  });

  it.each([[''], [' '], ['"'], ['\\'], ['***'], ['&& || !'], ['- +'], ['\u0000'], ['\ud800']])(
    '%j asks for nothing',
    (text) => {
      expect(pageCql({ spaces: SPACES, text })).toBeNull();
    },
  );

  it('takes the words that fit in 200 characters, and of one that does not its beginning', () => {
    const { text } = parseCql(pageCql({ spaces: SPACES, text: 'deploy '.repeat(800) })!);
    expect(text).toBe(Array.from({ length: 28 }, () => 'deploy').join(' '));
    expect(parseCql(pageCql({ spaces: SPACES, text: 'x'.repeat(5_000) })!).text).toBe('x'.repeat(200));
    const emoji = parseCql(pageCql({ spaces: SPACES, text: `a${'\ud83d\ude00'.repeat(2_500)}` })!).text;
    expect(emoji).toBe(`a${'\ud83d\ude00'.repeat(99)}`);
  });
});

describe('the scope', () => {
  it('is the list, trimmed, in upper case, each once, sorted', () => {
    expect(containersOf([' ops ', 'ENG', 'eng', ''], false)).toEqual(['ENG', 'OPS']);
  });

  it('is everything only without a list, and with own credentials', () => {
    expect(containersOf([], true)).toBeNull();
    expect(containersOf([], false)).toBeUndefined();
    expect(containersOf(['ENG'], true)).toEqual(['ENG']);
    expect(containersOf([' '], true)).toBeUndefined();
  });
});
