import { clipText, storableText } from '../text/storable-text.js';

/** Most UTF-16 code units of a text that are embedded. */
export const EMBEDDING_TEXT_LIMIT = 8_000;

/** Stands for a blank text: servers refuse those, and a row without a vector would be tried again for ever. */
const BLANK = '.';

/** The one rule of what is embedded: the beginning of the text, white space kept, no half characters. */
export function embeddingText(text: string): string {
  const begin = storableText(clipText(text, EMBEDDING_TEXT_LIMIT));
  return begin.trim() === '' ? BLANK : begin;
}
