/** Keeps 0.6 × 5, which floats make slightly more than 3, from asking for 4. */
const MARGIN = 1e-9;

/**
 * Finds, of the leaders so far, the one most similar to a set by Jaccard; of equally similar ones the first. Sets are
 * ascending numbers, the rarest member first.
 *
 * Two sets that are similar enough share one of their rarest members (prefix filter; Chaudhuri, Ganti and Kaushik,
 * ICDE 2006), are of similar size, and have enough members left behind the first that they share (positional filter; Xiao et al.,
 * WWW 2008): only what passes all three is compared.
 */
export class LeaderIndex {
  private readonly leaders: (readonly number[])[] = [];
  /** By member: leader and position of the member in it, in turn. */
  private readonly holders = new Map<number, number[]>();
  /** By leader: the last search that looked at it. */
  private readonly lookedAt: number[] = [];
  private searches = 0;

  /** @param threshold Jaccard similarity that is asked for, 0..1 */
  constructor(private readonly threshold: number) {}

  add(set: readonly number[]): void {
    const leader = this.leaders.push(set) - 1;
    this.lookedAt.push(0);
    for (let position = 0; position < this.prefixLength(set); position++) {
      const known = this.holders.get(set[position]!);
      if (known) known.push(leader, position);
      else this.holders.set(set[position]!, [leader, position]);
    }
  }

  /** Its number, from 0 in the order of `add`; null where none is similar enough. */
  mostSimilar(set: readonly number[]): number | null {
    const search = ++this.searches;
    // At a threshold of 0 whatever shares nothing joins the first.
    let best = this.threshold <= 0 && this.leaders.length > 0 ? 0 : null;
    let most = this.threshold;
    for (let position = 0; position < this.prefixLength(set); position++) {
      const holders = this.holders.get(set[position]!) ?? [];
      for (let at = 0; at < holders.length; at += 2) {
        const leader = holders[at]!;
        if (this.lookedAt[leader] === search) continue;
        this.lookedAt[leader] = search;
        const similarity = this.similarity(set, position, this.leaders[leader]!, holders[at + 1]!);
        if (similarity > most || (similarity === most && (best === null || leader < best))) {
          [best, most] = [leader, similarity];
        }
      }
    }
    return best;
  }

  /** Jaccard similarity of two sets whose first shared members stand at these positions; -1 where it cannot be enough. */
  private similarity(a: readonly number[], atA: number, b: readonly number[], atB: number): number {
    const sizes = a.length + b.length;
    const needed = (this.threshold / (1 + this.threshold)) * sizes - MARGIN;
    let shared = 0;
    let i = atA;
    let j = atB;
    while (i < a.length && j < b.length) {
      if (shared + Math.min(a.length - i, b.length - j) < needed) return -1;
      if (a[i] === b[j]) {
        shared++;
        i++;
        j++;
      } else if (a[i]! < b[j]!) i++;
      else j++;
    }
    return shared / (sizes - shared);
  }

  /** As many of the rarest members as a set that is similar enough cannot all miss. */
  private prefixLength({ length }: readonly number[]): number {
    return length - Math.max(1, Math.ceil(this.threshold * length - MARGIN)) + 1;
  }
}
