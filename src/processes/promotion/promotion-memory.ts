import { clusterSequences } from '../../core/similarity/sequence-clusters.js';
import { toolSimilarity } from '../../core/similarity/tool-similarity.js';
import { distinctAgents, type KnownPromotion, type SiblingSkill, type SkillCluster } from './promotion.models.js';

/**
 * The clusters in which enough different agents have learned much the same (mission, "Cross-agent promotion"). Skills
 * that are put away are no members: what nobody uses, or an operator has rejected, is nothing to converge on.
 *
 * @param threshold Jaccard similarity, 0..1
 */
export function convergingClusters(
  skills: readonly SiblingSkill[],
  { threshold, minAgents }: { threshold: number; minAgents: number },
): SkillCluster[] {
  const live = skills.filter((skill) => skill.live);
  const putAway = skills.filter((skill) => !skill.live);
  return clusterSequences(live, { threshold, minSize: minAgents })
    .filter(({ members }) => distinctAgents(members) >= minAgents)
    .map(({ leader, members }) => ({
      members: [...members].sort(byAgent),
      kin: putAway.filter(({ toolSequence }) => {
        const similarity = toolSimilarity(toolSequence, leader.toolSequence);
        // At a threshold of 0 what has no tools is still like nothing.
        return similarity > 0 && similarity >= threshold;
      }),
    }));
}

export type ClusterIdentity =
  /** Nobody has looked at it, or it has grown enough since: the model may be asked. `replaces`: refusals so far. */
  | { status: 'new'; replaces: KnownPromotion[] }
  /** Refused, and not grown enough. */
  | { status: 'refused' }
  /** It has its draft. `joined`: members that came since. */
  | { status: 'known'; promotions: KnownPromotion[]; joined: string[] };

/**
 * A cluster that shares a skill with an earlier one is the earlier one, whoever joined, and where it shares with several,
 * is them all (architecture, decision 13). A refused one is looked at again once it has grown by half (decision 11).
 */
export function identityOf(cluster: SkillCluster, earlier: readonly KnownPromotion[]): ClusterIdentity {
  const own = new Set([...cluster.members, ...cluster.kin].map(({ id }) => id));
  const shared = earlier.filter(({ memberSkillIds }) => memberSkillIds.some((id) => own.has(id)));
  const drafts = shared.filter(({ state }) => state !== 'refused');
  const known = new Set((drafts.length > 0 ? drafts : shared).flatMap(({ memberSkillIds }) => memberSkillIds));
  const joined = cluster.members.map(({ id }) => id).filter((id) => !known.has(id));
  if (drafts.length > 0) return { status: 'known', promotions: drafts, joined };
  return joined.length * 2 >= known.size ? { status: 'new', replaces: shared } : { status: 'refused' };
}

function byAgent(a: SiblingSkill, b: SiblingSkill): number {
  return compare(a.agentHandle, b.agentHandle) || compare(a.name, b.name) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
