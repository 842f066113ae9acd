import { clusterSequences, type SequenceCluster } from '../../core/similarity/sequence-clusters.js';
import { exemplarCount } from '../../memories/episodes/compaction.models.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';

export interface ClusterRules {
  threshold: number;
  minSize: number;
  exemplars: number;
}

export interface OverflowPlan {
  clusters: SequenceCluster<RawEpisode>[];
  /** What no cluster holds. */
  leftovers: RawEpisode[];
  /** The same of turns that taught nothing: they must not surface in recall with the others. */
  idle: RawEpisode[];
}

/** Rows to be read so that `planOverflow` can free `need` of them: the smallest cluster that frees one keeps all exemplars. */
export function rowsToFree(need: number, { exemplars }: ClusterRules): number {
  return need * (exemplars + 1);
}

/**
 * Which of the oldest rows have to go so that `need` of them are free: as few as possible, though exemplars, which stay
 * raw, want others in their place.
 *
 * @param oldestFirst rows that may be folded
 */
export function planOverflow(oldestFirst: readonly RawEpisode[], need: number, rules: ClusterRules): OverflowPlan {
  let size = Math.min(need, oldestFirst.length);
  for (;;) {
    const plan = planOf(oldestFirst.slice(0, size), rules);
    const missing = need - freedBy(plan, rules);
    if (missing <= 0 || size === oldestFirst.length) return plan;
    size = Math.min(size + missing, oldestFirst.length);
  }
}

function planOf(rows: readonly RawEpisode[], { threshold, minSize }: ClusterRules): OverflowPlan {
  const engaged = rows.filter((row) => row.engaged);
  const clusters = clusterSequences(engaged, { threshold, minSize });
  const clustered = new Set(clusters.flatMap(({ members }) => members));
  return {
    clusters,
    leftovers: engaged.filter((row) => !clustered.has(row)),
    idle: rows.filter((row) => !row.engaged),
  };
}

function freedBy({ clusters, leftovers, idle }: OverflowPlan, { exemplars }: ClusterRules): number {
  const inClusters = clusters.reduce(
    (sum, { members }) => sum + members.length - exemplarCount(members.length, exemplars),
    0,
  );
  return inClusters + leftovers.length + idle.length;
}
