import { toolShingles, toolSimilarity } from '../../core/similarity/tool-similarity.js';
import { contentHash } from '../../core/turn/content-hash.js';

/** Turns that might be one procedure: a cluster, or a single one. */
export interface TurnCluster {
  /** The tools of the turn that stands for all. */
  toolSequence: readonly string[];
  episodeIds: readonly string[];
}

/** A cluster that the model was asked about and that no skill came of. */
export interface JudgedCluster {
  id: string;
  toolSequence: readonly string[];
  /** Those that it had when it was judged last. */
  episodeIds: readonly string[];
  /** Turns that were judged in all. */
  memberCount: number;
}

/** Names a cluster by the tools of its leader, the same for sequences that count as equal. */
export function clusterFingerprint(toolSequence: readonly string[]): string {
  return contentHash([...toolShingles(toolSequence)].sort());
}

/**
 * The judged clusters that this one is: another turn may lead it by now, but whatever leads is as near as the members of a
 * cluster are.
 */
export function judgedBefore<Judged extends JudgedCluster>(
  toolSequence: readonly string[],
  judged: readonly Judged[],
  threshold: number,
): Judged[] {
  return judged.filter((cluster) => toolSimilarity(cluster.toolSequence, toolSequence) >= threshold);
}

/** The turns of a cluster that were there at none of the judgements. */
export function unjudgedOf(cluster: TurnCluster, judged: readonly JudgedCluster[]): string[] {
  const known = new Set(judged.flatMap(({ episodeIds }) => episodeIds));
  return cluster.episodeIds.filter((id) => !known.has(id));
}

/**
 * Whether a judged cluster is worth another question: it has grown by half (architecture, decision 11). Counted in turns that
 * are new to it, not in its size now: old ones leave the window as new ones come.
 */
export function hasGrownByHalf(cluster: TurnCluster, judged: readonly JudgedCluster[]): boolean {
  return unjudgedOf(cluster, judged).length * 2 >= countOf(judged);
}

/** The turns that have been judged once this cluster is. */
export function judgedCount(cluster: TurnCluster, judged: readonly JudgedCluster[]): number {
  return countOf(judged) + unjudgedOf(cluster, judged).length;
}

function countOf(judged: readonly JudgedCluster[]): number {
  return judged.reduce((sum, { memberCount }) => sum + memberCount, 0);
}
