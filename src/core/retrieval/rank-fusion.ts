/** What a list contributes falls with the rank; a larger k lets lower ranks count more. */
const RRF_K = 60;

/** One ranking, best first. */
export interface RankedList<Arm extends string = string> {
  /** Names the list in `FusedRank.arms`. */
  arm: Arm;
  ids: readonly string[];
  /** What its ranks count against those of the other lists. @default 1 */
  weight?: number;
}

export interface FusedRank<Arm extends string = string> {
  id: string;
  /** Sum of weight / (60 + rank) over the lists that hold the id; comparable within one fusion only. */
  score: number;
  /** The lists that hold it, in the order given. */
  arms: Arm[];
}

/**
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009; k = 60): joins rankings whose scores cannot be
 * compared. Best first; equal scores in the order of the ids. An id that a list repeats counts at its first rank.
 */
export function fuseRanks<Arm extends string>(lists: readonly RankedList<Arm>[]): FusedRank<Arm>[] {
  const fused = new Map<string, FusedRank<Arm>>();
  for (const { arm, ids, weight = 1 } of lists) {
    [...new Set(ids)].forEach((id, index) => {
      const entry: FusedRank<Arm> = fused.get(id) ?? { id, score: 0, arms: [] };
      entry.score += weight / (RRF_K + index + 1);
      entry.arms.push(arm);
      fused.set(id, entry);
    });
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || compareIds(a.id, b.id));
}

function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
