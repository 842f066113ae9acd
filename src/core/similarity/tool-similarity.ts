/**
 * What two tool sequences are compared by: the distinct names in them. Single names beat pairs of neighbours and both
 * together on the labelled turns of tau-bench (docs/benchmarks.md, "clustering"): pairs tell apart what only the order
 * of look-ups tells apart.
 */
export function toolShingles(sequence: readonly string[]): ReadonlySet<string> {
  return new Set(sequence);
}

/** Jaccard similarity, 0..1: what two sets share of what either holds. 0 where one is empty: nothing is like nothing. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const member of small) if (large.has(member)) shared++;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

/** Jaccard similarity of two tool sequences, 0..1. */
export function toolSimilarity(a: readonly string[], b: readonly string[]): number {
  return jaccard(toolShingles(a), toolShingles(b));
}
