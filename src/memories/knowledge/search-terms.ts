import { clipText } from '../../platform/text/storable-text.js';

/** UTF-16 code units of a query that a knowledge base is sent. */
const QUERY_LIMIT = 200;

/** What Lucene's query parser reads as anything but text, and what ends or escapes a literal. */
const SYNTAX = /[!(){}[\]^"~*?:\\/<>=]|&&|\|\||[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFFFD]/gu;

const OPERATOR = /^(?:AND|OR|NOT|TO)$/;

/** True where there is something to search for. */
export function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** The words of a text, those without a letter or digit left out, up to 200 UTF-16 code units in all. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let length = 0;
  for (const word of text.split(/\s+/u)) {
    if (!hasWord(word)) continue;
    const room = QUERY_LIMIT - length;
    if (word.length > room) {
      // Half a word would not be found; a first one that is too long has to do.
      if (words.length === 0) words.push(clipText(word, room));
      break;
    }
    words.push(word);
    length += word.length + 1;
  }
  return words;
}

/** The words of a text that mean nothing to Lucene but themselves; `C#`, `POC-518` and `v1.2` stay what they are. */
export function luceneTerms(text: string): string[] {
  const plain = text
    .replace(SYNTAX, ' ')
    .split(/\s+/u)
    .map((word) => word.replace(/^[+-]+/, ''))
    .map((word) => (OPERATOR.test(word) ? word.toLowerCase() : word));
  return wordsOf(plain.join(' '));
}
