/** Stands where an identifier was. */
export const ERASED = '[erased]';

/** Shorter names are looked for as they are written: `An` is a name, `an` is not. */
const ANY_CASE_FROM = 3;
/** A single letter is no name that could be told from a word. */
const SHORTEST = 2;

/** Scripts that are written without spaces: a name may stand inside of a run of them. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, 'u');
const WORD = '\\p{L}\\p{M}\\p{N}_';

/** The names as they can be looked for, longest first so that a part of one leaves nothing of the whole behind. */
export function searchableNames(names: Iterable<string>): string[] {
  const distinct = new Set<string>();
  for (const name of names) {
    const trimmed = name.trim();
    for (const form of [trimmed, trimmed.normalize('NFC'), trimmed.normalize('NFD')]) {
      if ([...form.normalize('NFC')].length >= SHORTEST) distinct.add(form);
    }
  }
  return [...distinct].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/**
 * Finds names as whole words, whatever the case of three letters and more and whatever space is between their words.
 * Null where there is no name to look for.
 */
export function namePattern(names: readonly string[]): { replace(text: string): string } | null {
  const anyCase = names.filter((name) => [...name].length >= ANY_CASE_FROM).map(wholeWord);
  const exact = names.filter((name) => [...name].length < ANY_CASE_FROM).map(wholeWord);
  const patterns = [
    ...(anyCase.length > 0 ? [new RegExp(anyCase.join('|'), 'giu')] : []),
    ...(exact.length > 0 ? [new RegExp(exact.join('|'), 'gu')] : []),
  ];
  if (patterns.length === 0) return null;
  return { replace: (text) => patterns.reduce((result, pattern) => result.replace(pattern, ERASED), text) };
}

/**
 * A Postgres regular expression that every text with one of the names matches, and its form in JSON too; it may match
 * others. Case is spelt out, because the database's locale may know that of ASCII only. Null where there is no name.
 */
export function roughSqlPattern(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return names.map((name) => name.split(/\s+/u).map(eitherCase).join('(\\s|\\\\[nrtfbu0-9a-f]+)+')).join('|');
}

function wholeWord(name: string): string {
  const letters = [...name];
  const body = name
    .split(/\s+/u)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('\\s+');
  // Beside punctuation or an unspaced script, anything may stand.
  const before = bounded(letters[0]!) ? `(?<![${WORD}])` : '';
  const after = bounded(letters.at(-1)!) ? `(?![${WORD}])` : '';
  return `${before}${body}${after}`;
}

function bounded(letter: string): boolean {
  return new RegExp(`[${WORD}]`, 'u').test(letter) && !UNSPACED_CHARACTER.test(letter);
}

function eitherCase(word: string): string {
  return [...word]
    .map((letter) => [...new Set([letter, letter.toLowerCase(), letter.toUpperCase()])])
    .map((forms) => (forms.length === 1 ? literal(forms[0]!) : `(${forms.map(literal).join('|')})`))
    .join('');
}

function literal(text: string): string {
  return [...text]
    .map((letter) => {
      if (letter === '"' || letter === '\\') return `\\\\?\\${letter}`;
      return /[\p{L}\p{M}\p{N}]/u.test(letter) || letter.codePointAt(0)! > 127 || letter === '_'
        ? letter
        : `\\${letter}`;
    })
    .join('');
}
