/** Characters that show nothing: joiners, fillers, controls of direction and of format, variation selectors, tags. */
const SUSPECT =
  // eslint-disable-next-line no-misleading-character-class -- each of them is meant by itself, not with what stands before it
  /[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const SUSPECTS = new RegExp(SUSPECT, 'gu');

const anyOf = (scripts: readonly string[]): string => `[${scripts.map((name) => `\\p{scx=${name}}`).join('')}]`;

/** Scripts that steer their letter forms by joiner and non-joiner. */
const JOINING = anyOf(
  (
    'Arabic Syriac Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala ' +
    'Khmer Myanmar Tibetan'
  ).split(' '),
);
/** Scripts without spaces, which mark where a line may break. */
const UNSPACED = anyOf(['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan', 'Javanese']);

/** Where the suspects are text. */
const LEGITIMATE: readonly RegExp[] = [
  // subdivision flags (England, Scotland, Wales): a black flag, tag letters, a cancel tag
  /(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu,
  // between the parts of an emoji, as in families, and behind what can be an emoji
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})/gu,
  /(?<=\p{Emoji})[\ufe0e\ufe0f]/gu,
  new RegExp(`(?<=${JOINING})[\\u200c\\u200d]{1,2}(?=[\\p{L}\\p{M}\\p{P}\\s]|$)`, 'gu'),
  // a word of another script, or a number, with a Persian ending
  new RegExp(`(?<=[\\p{L}\\p{N}])\\u200c(?=${JOINING})`, 'gu'),
  new RegExp(`(?<=${UNSPACED})\\u200b(?=[\\p{L}\\p{M}\\p{N}\\p{P}\\s]|$)`, 'gu'),
  // glyph variants
  /(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/gu,
  /(?<=\p{Script=Mongolian})[\u180b-\u180f]/gu,
  /(?<=\p{Script=Myanmar})\ufe00/gu,
  // a byte-order mark where it belongs
  /^\ufeff/gu,
];

/** Marks of direction are part of how a line with right-to-left text is typed; overrides and isolates are not. */
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/gu;

/**
 * The first character of a text that is there without being seen, as `U+202E`; null where there is none. Joiners,
 * variation selectors and direction marks where a script or an emoji needs them are text, and so is a soft hyphen.
 */
export function findInvisible(text: string): string | null {
  if (!SUSPECT.test(text)) return null;
  let rest = LEGITIMATE.reduce((left, pattern) => left.replace(pattern, ''), text);
  if (RIGHT_TO_LEFT.test(rest)) rest = rest.replace(DIRECTION_MARKS, '');
  const found = SUSPECT.exec(rest)?.[0].codePointAt(0);
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** More marks on one letter than any language writes (UAX #15, stream-safe text): to order them takes quadratic time. */
const STACKED = /(\p{M}{30})\p{M}+/gu;

/** The text as a reader sees it: nothing invisible in it, compatibility forms folded. */
export function asSeen(text: string): string {
  return text.replace(SUSPECTS, '').replaceAll('\u00ad', '').replace(STACKED, '$1').normalize('NFKC');
}
