import type { Embedder } from './embedder.models.js';

/** Too common to tell one memory from another. */
const STOP_WORDS = new Set(
  (
    'a about all am an and any are as at be because been but by can could did do does for from had has have he her him ' +
    'his how i if in into is it its just me my no not of on or our out she so that the their them there they this to up ' +
    'us was we were what when where which who why will with would you your'
  ).split(' '),
);

/** What the trigrams of one word weigh together, where the word itself weighs 1. Picked on LoCoMo. */
const TRIGRAMS_WEIGHT = 2;

/**
 * The built-in embedder: feature hashing (Weinberger et al. 2009) of words and their character trigrams into signed
 * buckets, term frequency damped, length 1. Needs no network and gives the same vector everywhere.
 *
 * It is lexical: texts are near where they share words or parts of words (`refund`, `refunds`), in any script that
 * `Intl.Segmenter` can split. It knows no meaning: `car` and `automobile` are as far apart as any two words.
 */
export class HashingEmbedder implements Embedder {
  readonly local = true;
  readonly model: string;
  private readonly segmenter = new Intl.Segmenter('und', { granularity: 'word' });

  constructor(private readonly dimensions: number = 384) {
    this.model = `hashing-v1-${dimensions}`;
  }

  async embed(texts: readonly string[]): Promise<number[][]> {
    return texts.map((text) => this.vectorOf(text));
  }

  private vectorOf(text: string): number[] {
    const features = this.featuresOf(text.normalize('NFKC').toLowerCase());
    const vector = new Array<number>(this.dimensions).fill(0);
    for (const [feature, weight] of features) {
      const hash = hashOf(feature);
      // The sign is taken from a bit that the bucket does not depend on.
      vector[(hash >>> 1) % this.dimensions]! += (hash & 1 ? 1 : -1) * Math.log1p(weight);
    }
    const norm = Math.hypot(...vector);
    if (norm > 0) return vector.map((value) => value / norm);
    // Features that cancelled each other out: rare, but a vector of zeros has no direction.
    vector[hashOf(text) % this.dimensions] = 1;
    return vector;
  }

  private featuresOf(text: string): Map<string, number> {
    const words = [...this.segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
    const telling = words.filter((word) => !STOP_WORDS.has(word));
    const features = new Map<string, number>();
    const add = (feature: string, weight: number): void => {
      features.set(feature, (features.get(feature) ?? 0) + weight);
    };
    // Of a text without a word (`:-)`) the characters are all there is; of one of stop words, those.
    const units = [telling, words].find((list) => list.length > 0) ?? [text];
    for (const unit of units) {
      if (words.length > 0) add(`word ${unit}`, 1);
      // Decomposed, a Korean word keeps its beginning whatever particle follows, and accents are parts of their own.
      const padded = `<${unit.normalize('NFKD')}>`;
      const count = padded.length - 2;
      for (let at = 0; at < count; at += 1) add(padded.slice(at, at + 3), TRIGRAMS_WEIGHT / Math.sqrt(count));
    }
    return features;
  }
}

/** FNV-1a over UTF-16 code units, its bits then mixed as murmur3 does, so that the low ones are as good as the high. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
