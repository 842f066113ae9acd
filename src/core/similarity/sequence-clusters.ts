import { jaccard, toolShingles } from './tool-similarity.js';

/** What can be clustered by the tools that it used. */
export interface ToolTrajectory {
  id: string;
  toolSequence: readonly string[];
}

export interface SequenceCluster<Item extends ToolTrajectory> {
  /** One of those whose shingles are the most frequent in the cluster; all others are as similar to it as was asked. */
  leader: Item;
  /** In the order of their ids; the leader is among them. */
  members: Item[];
}

export interface ClusterOptions {
  /** Jaccard similarity to the leader from which on an item joins, 0..1. */
  threshold: number;
  /** Clusters with fewer members are left out. @default 1 */
  minSize?: number;
}

/**
 * Greedy leader clustering by the tools used. Items with the same shingles are taken together, the most frequent ones
 * first, and join the most similar leader, else lead a cluster themselves: so the result depends on what the items are
 * and not on their order. Items without tools are left out. The largest cluster comes first.
 *
 * Near linear in the number of items: candidates come from an inverted index over the rarest shingles of each item,
 * which two that are similar enough cannot both miss (prefix filter; Chaudhuri, Ganti and Kaushik, ICDE 2006).
 */
export function clusterSequences<Item extends ToolTrajectory>(
  items: readonly Item[],
  { threshold, minSize = 1 }: ClusterOptions,
): SequenceCluster<Item>[] {
  const groups = groupsByShingles(items);
  const leaders = new LeaderIndex(groups, threshold);
  const clusters: SequenceCluster<Item>[] = [];
  for (const { shingles, members } of groups) {
    const found = leaders.mostSimilar(shingles);
    if (found === null) {
      leaders.add(shingles);
      clusters.push({ leader: members[0]!, members: [...members] });
    } else {
      clusters[found]!.members.push(...members);
    }
  }
  for (const { members } of clusters) members.sort(byId);
  return clusters
    .filter(({ members }) => members.length >= minSize)
    .sort((a, b) => b.members.length - a.members.length || byId(a.leader, b.leader));
}

interface Group<Item> {
  key: string;
  shingles: ReadonlySet<string>;
  /** By id. */
  members: Item[];
}

/** The most frequent first, then those with fewer shingles. */
function groupsByShingles<Item extends ToolTrajectory>(items: readonly Item[]): Group<Item>[] {
  const groups = new Map<string, Group<Item>>();
  for (const item of items) {
    const shingles = toolShingles(item.toolSequence);
    if (shingles.size === 0) continue;
    const key = JSON.stringify([...shingles].sort());
    const group = groups.get(key);
    if (group) group.members.push(item);
    else groups.set(key, { key, shingles, members: [item] });
  }
  const all = [...groups.values()];
  for (const { members } of all) members.sort(byId);
  return all.sort(
    (a, b) => b.members.length - a.members.length || a.shingles.size - b.shingles.size || compare(a.key, b.key),
  );
}

/** Finds, of the leaders so far, the one most like a set; of equal ones the first. */
class LeaderIndex {
  private readonly frequency = new Map<string, number>();
  private readonly leaders: ReadonlySet<string>[] = [];
  private readonly holders = new Map<string, number[]>();

  constructor(
    groups: readonly { shingles: ReadonlySet<string> }[],
    private readonly threshold: number,
  ) {
    for (const { shingles } of groups) {
      for (const shingle of shingles) this.frequency.set(shingle, (this.frequency.get(shingle) ?? 0) + 1);
    }
  }

  add(shingles: ReadonlySet<string>): void {
    const index = this.leaders.push(shingles) - 1;
    for (const shingle of this.prefix(shingles)) {
      const known = this.holders.get(shingle);
      if (known) known.push(index);
      else this.holders.set(shingle, [index]);
    }
  }

  mostSimilar(shingles: ReadonlySet<string>): number | null {
    // At a threshold of 0 whatever shares nothing joins the first.
    let best = this.threshold <= 0 && this.leaders.length > 0 ? { index: 0, similarity: 0 } : null;
    const seen = new Set<number>();
    for (const shingle of this.prefix(shingles)) {
      for (const index of this.holders.get(shingle) ?? []) {
        if (seen.has(index)) continue;
        seen.add(index);
        const similarity = jaccard(shingles, this.leaders[index]!);
        if (similarity < this.threshold) continue;
        if (!best || similarity > best.similarity || (similarity === best.similarity && index < best.index)) {
          best = { index, similarity };
        }
      }
    }
    return best?.index ?? null;
  }

  /** The rarest shingles, as many as one that is similar enough cannot all miss. */
  private prefix(shingles: ReadonlySet<string>): string[] {
    const rarestFirst = [...shingles].sort((a, b) => this.frequency.get(a)! - this.frequency.get(b)! || compare(a, b));
    // The margin keeps 0.6 × 5, which floats make slightly more than 3, from shortening the prefix.
    const needed = Math.max(1, Math.ceil(this.threshold * shingles.size - 1e-9));
    return rarestFirst.slice(0, shingles.size - needed + 1);
  }
}

function byId(a: ToolTrajectory, b: ToolTrajectory): number {
  return compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
