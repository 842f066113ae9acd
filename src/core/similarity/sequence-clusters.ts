import { LeaderIndex } from './leader-index.js';
import { toolShingles } from './tool-similarity.js';

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
 * Near linear in the number of items: a leader is looked up in an inverted index over the rarest shingles.
 */
export function clusterSequences<Item extends ToolTrajectory>(
  items: readonly Item[],
  { threshold, minSize = 1 }: ClusterOptions,
): SequenceCluster<Item>[] {
  const groups = groupsByShingles(items);
  const numbers = numbered(groups);
  const leaders = new LeaderIndex(threshold);
  const clusters: SequenceCluster<Item>[] = [];
  groups.forEach(({ members }, index) => {
    const found = leaders.mostSimilar(numbers[index]!);
    if (found === null) {
      leaders.add(numbers[index]!);
      clusters.push({ leader: members[0]!, members: [...members] });
    } else {
      clusters[found]!.members.push(...members);
    }
  });
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

/** The shingles of each group as numbers, ascending, where the rarest shingle of all has the lowest. */
function numbered(groups: readonly { shingles: ReadonlySet<string> }[]): number[][] {
  const frequency = new Map<string, number>();
  for (const { shingles } of groups) {
    for (const shingle of shingles) frequency.set(shingle, (frequency.get(shingle) ?? 0) + 1);
  }
  const rarestFirst = [...frequency].sort(([a, often], [b, oftenB]) => often - oftenB || compare(a, b));
  const numbers = new Map(rarestFirst.map(([shingle], number) => [shingle, number]));
  return groups.map(({ shingles }) => [...shingles].map((shingle) => numbers.get(shingle)!).sort((a, b) => a - b));
}

function byId(a: ToolTrajectory, b: ToolTrajectory): number {
  return compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
