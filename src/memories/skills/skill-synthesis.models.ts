import type { Trajectory } from '../episodes/episode-trajectories.js';
import type { TurnCluster } from './cluster-memory.js';
import type { SkillAuthor } from './skill-author.js';
import type { SkillTrigger } from './skill.models.js';
import type { SkillRule } from './skill.rules.js';

/** Successful turns that might teach one procedure. */
export interface SkillCandidate extends SkillAuthor {
  trigger: SkillTrigger;
  /** Whose tools stand for all of them; one of `members`. */
  leader: Trajectory;
  members: readonly Trajectory[];
}

/** A draft that obeys the rules of form, with what it was drafted from. Survives a round trip through JSON. */
export interface DraftedSkill extends SkillAuthor {
  trigger: SkillTrigger;
  source: SourceTurns;
  name: string;
  description: string;
  /** The whole SKILL.md. */
  content: string;
}

export interface SourceTurns extends TurnCluster {
  turnIds: readonly string[];
}

/** Why nothing is learned; the reason that the reflection worker and the verdict show. */
export type SynthesisRule =
  | SkillRule
  /** A live skill has a tool sequence as similar as `duplicate_jaccard_threshold` asks. */
  | 'duplicate_sequence'
  /** An operator rejected what was learned of these turns. */
  | 'rejected_before'
  /** The model was asked about turns like these and nothing came of it. */
  | 'judged_before'
  /** A live skill has the same body under another name. */
  | 'near_duplicate'
  /** A source turn was erased, compacted or used for another skill. */
  | 'sources_gone';

export function sourceOf({ leader, members }: SkillCandidate): SourceTurns {
  return {
    toolSequence: leader.toolSequence,
    episodeIds: members.map(({ id }) => id),
    turnIds: members.map(({ turnId }) => turnId),
  };
}
