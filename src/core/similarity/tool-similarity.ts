/** Stands in no tool name: text from outside holds none. */
const JOINT = '\u0000';

/**
 * What two tool sequences are compared by: the distinct names in them, and the distinct pairs of neighbours, where the
 * beginning and the end count as neighbours too. Of the shingles tried on the labelled turns of tau-bench these alone
 * meet purity, agreement and coverage at the threshold of the reference engine (docs/benchmarks.md, "clustering").
 */
export function toolShingles(sequence: readonly string[]): ReadonlySet<string> {
  const shingles = new Set(sequence);
  if (sequence.length === 0) return shingles;
  const marked = ['', ...sequence, ''];
  for (let index = 1; index < marked.length; index++) shingles.add(`${marked[index - 1]!}${JOINT}${marked[index]!}`);
  return shingles;
}

/** Jaccard similarity, 0..1: what two sets share of what either holds. 0 where one is empty: nothing is like nothing. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const member of small) if (large.has(member)) shared++;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

/** Jaccard similarity of two tool sequences by their shingles, 0..1. */
export function toolSimilarity(a: readonly string[], b: readonly string[]): number {
  return jaccard(toolShingles(a), toolShingles(b));
}
