/** Similarity from which on two names are taken for each other: the default of Postgres' pg_trgm. */
export const SIMILAR_FROM = 0.3;

/**
 * How alike two names are, 0 to 1: the share of three-letter pieces that they have in common (as pg_trgm's `similarity`
 * and `word_similarity`), of the whole name or of the word in `name` that is nearest. Case and accents do not count.
 */
export function nameSimilarity(query: string, name: string): number {
  const asked = trigramsOf(query);
  const candidates = [name, ...wordsOf(name)];
  return Math.max(...candidates.map((candidate) => jaccard(asked, trigramsOf(candidate))));
}

/** Without case and accents, in the words that it is made of. */
export function foldedName(text: string): string {
  return wordsOf(text).join(' ');
}

function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

function trigramsOf(text: string): Set<string> {
  const pieces = wordsOf(text).flatMap((word) => {
    const characters = ['', '', ...word, ''].map((character) => character || ' ');
    return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''));
  });
  return new Set(pieces);
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  const shared = [...a].filter((piece) => b.has(piece)).length;
  return shared / (a.size + b.size - shared);
}
