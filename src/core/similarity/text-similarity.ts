/**
 * Words of one shingle. Single words are shared by all texts of one field; the longer the shingle, the more of them one
 * changed word takes away.
 */
const WORDS = 3;

/** Scripts that put no space between words: each character counts as a word. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_])+`, 'gu');

/** The runs of three words in a text, whatever its case, punctuation and markup; a shorter text is one shingle. */
export function wordShingles(text: string): ReadonlySet<string> {
  const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  if (words.length === 0) return new Set();
  if (words.length < WORDS) return new Set([words.join(' ')]);
  return new Set(words.slice(WORDS - 1).map((_, end) => words.slice(end, end + WORDS).join(' ')));
}

/**
 * How much of the smaller of two sets stands in the larger, 0..1 (overlap coefficient; Broder, "On the resemblance and
 * containment of documents", 1997). Unlike Jaccard it does not fall where one text is the other and something more.
 * 0 where one is empty.
 */
export function containment(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const member of small) if (large.has(member)) shared++;
  return small.size === 0 ? 0 : shared / small.size;
}
