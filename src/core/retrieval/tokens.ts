/** Code units of a text that are tokenised; what stands beyond is stored but not found by the lexical arm. */
const TEXT_LIMIT = 200_000;
/** Distinct tokens of one text. With `BYTE_LIMIT` it keeps a tsvector, positions included, below Postgres' 1 MiB. */
const TOKEN_LIMIT = 40_000;
const BYTE_LIMIT = 600_000;
/** Bytes of one token. Postgres refuses a lexeme over 2,047; nobody searches for one over this. */
const TOKEN_BYTE_LIMIT = 512;
/** Code units segmented at once: V8's segmenter takes time in the square of its input, 13 s for 200,000. */
const PIECE = 1_000;
/** Code units of an identifier that is also kept whole. */
const COMPOUND_LIMIT = 64;

/** `document` adds single ideographs, so that a one-character word is found inside a longer one. */
export type TokenUse = 'document' | 'query';

const words = new Intl.Segmenter('und', { granularity: 'word' });

const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー々';
/** Letters only: some radicals are of the script and yet symbols. */
const CJK_RUN = new RegExp(`(?:(?=[\\p{L}\\p{N}\\p{M}])[${CJK}])+`, 'gu');
const ALPHANUMERIC = `(?![${CJK}])[\\p{L}\\p{N}\\p{M}]`;
/** `PR-123`, `user_id`, `v1.2.3`, `bob@example.com`, `don't`, and `C#`, `F#`, `C++`. */
const COMPOUND = new RegExp(
  `(?<!${ALPHANUMERIC})(?:(?:${ALPHANUMERIC})+(?:[-_.@'\u2019\u200c]{1,2}(?:${ALPHANUMERIC})+)+|[A-Za-z](?:#|\\+\\+))`,
  'gu',
);
const CAMEL_HUMP = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const NOT_WORD = /[^\p{L}\p{N}\p{M}]+/u;
const PIECE_END = /[\s。、，！？；：]/u;
const HALF_OR_FULL_WIDTH = /[\uff01-\uffee]+/g;
const FOLDABLE = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}ёЁ]/u;

/**
 * The words of a text in any language, lower-cased, distinct, in the order in which they first stand there; at most
 * 40,000. Words are those of `Intl.Segmenter` (UAX 29, with dictionaries for Chinese, Japanese, Thai, Khmer, Lao and
 * Burmese). Beside them stand what a searcher may type instead:
 * - pairs of neighbouring characters of Chinese, Japanese and Korean (as in Lucene's CJKBigramFilter), because the
 *   segmenter may cut a sentence otherwise than the query, and because Korean glues particles to its words;
 * - the humps of `camelCase` and, of `PR-123`, `user_id` or `bob@example.com`, the parts and the whole without its
 *   joints; `C#` as `csharp` and `C++` as `cplusplus`, since a bare `c` says too little;
 * - the word without its accents.
 *
 * Every token consists of letters, marks and digits alone, so Postgres' parser takes it as one word.
 */
export function searchTokens(text: string, use: TokenUse = 'document'): string[] {
  const bag = new TokenBag();
  for (const piece of pieces(normalised(text))) {
    if (bag.full) break;
    for (const { segment, isWordLike } of words.segment(piece)) if (isWordLike) addWord(bag, segment);
    for (const [compound] of piece.matchAll(COMPOUND)) bag.add(joined(compound));
    for (const [run] of piece.matchAll(CJK_RUN)) addPairs(bag, run, use);
  }
  return bag.tokens;
}

/** Tokens in first-seen order, bounded in number and bytes. */
class TokenBag {
  private readonly seen = new Set<string>();
  private bytes = 0;

  get full(): boolean {
    return this.seen.size >= TOKEN_LIMIT || this.bytes >= BYTE_LIMIT;
  }

  get tokens(): string[] {
    return [...this.seen];
  }

  add(word: string): void {
    const token = word.toLowerCase();
    if (token === '' || this.full || this.seen.has(token)) return;
    const bytes = Buffer.byteLength(token);
    if (bytes > TOKEN_BYTE_LIMIT) return;
    this.seen.add(token);
    this.bytes += bytes;
  }
}

/** NFKC as a whole would take Thai and Lao vowels apart, which their dictionaries then no longer know. */
function normalised(text: string): string {
  return text
    .slice(0, TEXT_LIMIT)
    .toWellFormed()
    .normalize('NFC')
    .replace(HALF_OR_FULL_WIDTH, (run) => run.normalize('NFKC'));
}

/** Cut behind a space or a full stop where there is one, and never inside a surrogate pair. */
function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE, text.length);
    if (end < text.length) {
      let cut = end;
      while (cut > start && !PIECE_END.test(text.charAt(cut - 1))) cut--;
      if (cut > start) end = cut;
      else if (text.codePointAt(end - 1)! > 0xffff) end--;
    }
    yield text.slice(start, end);
    start = end;
  }
}

function addWord(bag: TokenBag, segment: string): void {
  for (const part of segment.split(NOT_WORD)) {
    bag.add(part);
    if (FOLDABLE.test(part)) bag.add(withoutAccents(part));
    const humps = part.split(CAMEL_HUMP);
    if (humps.length > 1) for (const hump of humps) bag.add(hump);
  }
}

function addPairs(bag: TokenBag, run: string, use: TokenUse): void {
  const characters = [...run];
  characters.forEach((character, index) => {
    const next = characters[index + 1];
    if (next !== undefined) bag.add(character + next);
    if (use === 'document' && /\p{Script=Han}/u.test(character)) bag.add(character);
  });
}

function joined(compound: string): string {
  if (compound.length > COMPOUND_LIMIT) return '';
  if (compound.endsWith('#')) return `${compound.slice(0, -1)}sharp`;
  if (compound.endsWith('++')) return `${compound.slice(0, -2)}plusplus`;
  return compound.split(NOT_WORD).join('');
}

function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replaceAll('ß', 'ss')
    .normalize('NFC');
}
