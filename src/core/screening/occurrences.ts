export interface Occurrence {
  /** From the start of the sentence to the match. */
  before: string;
  /** From the match to the end of its sentence. */
  sentence: string;
  /** The sentence before that one, the text up to the match, and the rest of its sentence. */
  around: string;
}

/** UTF-16 code units that are looked at before and behind a match. */
const BEFORE = 300;
const BEHIND = 200;
const SENTENCE_END = /(?<=[.!?])\s+/u;

/** Where a pattern, which has the flag `g`, matches a line, with what stands around. */
export function* occurrences(pattern: RegExp, line: string): Generator<Occurrence> {
  for (const { index, 0: match } of line.matchAll(pattern)) {
    const sentences = line.slice(Math.max(0, index - BEFORE), index).split(SENTENCE_END);
    const sentence = line.slice(index, index + match.length + BEHIND).split(SENTENCE_END)[0] ?? '';
    yield { before: sentences.at(-1) ?? '', sentence, around: `${sentences.slice(-2).join(' ')}${sentence}` };
  }
}
