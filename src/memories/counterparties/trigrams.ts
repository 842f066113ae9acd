/** Similarity from which on two names are taken for each other: the default of Postgres' pg_trgm. */
export const SIMILAR_FROM = 0.3;

/**
 * Tells how alike names are to the query, 0 to 1: the share of three-letter pieces that they have in common (as pg_trgm's
 * `similarity` and `word_similarity`), of the whole name or of the word in it that is nearest. Case and accents do not
 * count. Each word is taken apart once, since many names share it.
 */
export function similarityTo(query: string): (name: string) => number {
  const asked = piecesOf(wordsOf(query));
  const known = new Map<string, number>();
  return (name) => {
    const words = wordsOf(name);
    const alike = words.map((word) => {
      const similarity = known.get(word) ?? jaccard(asked, piecesOf([word]));
      known.set(word, similarity);
      return similarity;
    });
    const nearest = Math.max(0, ...alike);
    return nearest === 0 || words.length === 1 ? nearest : Math.max(nearest, jaccard(asked, piecesOf(words)));
  };
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

function piecesOf(words: readonly string[]): Set<string> {
  const pieces = words.flatMap((word) => {
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
