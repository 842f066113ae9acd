import { clipText } from '../../platform/text/storable-text.js';
import { searchTokens } from './tokens.js';

/** UTF-16 code units of an opening that count. */
const OPENING_LIMIT = 400;
/** A paragraph with fewer words greets and asks for nothing. */
const WORDS_NEEDED = 3;

/**
 * The tokens of the paragraph in which a text says what it is about: the first one with three words, else the whole.
 * Whoever asks again for what was asked before words the beginning alike, and the rest as the talk went on.
 */
export function openingTokens(text: string): string[] {
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => searchTokens(clipText(paragraph, OPENING_LIMIT)));
  return paragraphs.find((tokens) => tokens.length >= WORDS_NEEDED) ?? searchTokens(clipText(text, OPENING_LIMIT));
}

/** Tokens and pairs of neighbouring ones, which tell `change my flight` from `my flight change`. */
export function openingShingles(tokens: readonly string[]): Set<string> {
  const shingles = new Set(tokens);
  for (let index = 1; index < tokens.length; index++) shingles.add(`${tokens[index - 1]!} ${tokens[index]!}`);
  return shingles;
}
