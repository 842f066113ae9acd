import { Injectable } from '@nestjs/common';
import { toolSimilarity } from '../../core/similarity/tool-similarity.js';
import { Settings } from '../../platform/config/settings.js';
import { hasGrownByHalf, judgedBefore, type JudgedCluster } from './cluster-memory.js';
import { ownerOf } from './skill-author.js';
import { SkillClusterVerdicts } from './skill-cluster-verdicts.js';
import { nearDuplicates } from './near-duplicates.js';
import {
  type DraftedSkill,
  type SkillCandidate,
  sourceOf,
  type SourceTurns,
  type SynthesisRule,
} from './skill-synthesis.models.js';
import type { SkillRow } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

export type GuardVerdict =
  | { refused: SynthesisRule }
  /** `judged`: the verdicts on the cluster so far, which the next one replaces. */
  | { refused: null; judged: JudgedCluster[]; liveNames: string[] };

/** The rules of the SkillSynthesizer that look at what the agent has learned already. */
@Injectable()
export class SkillGuards {
  constructor(
    private readonly skills: SynthesizedSkillStore,
    private readonly verdicts: SkillClusterVerdicts,
    private readonly settings: Settings,
  ) {}

  /** All that can be refused without asking the model. */
  async check(candidate: SkillCandidate): Promise<GuardVerdict> {
    const owner = ownerOf(candidate);
    const known = await this.skills.inStates(owner, ['active', 'stale', 'rejected']);
    const live = known.filter(({ state }) => state !== 'rejected');
    if (live.length >= this.settings.learning.skill_synthesis.max_skills_per_agent) return { refused: 'skill_cap' };
    const refused = this.sequenceProblem(sourceOf(candidate), known);
    if (refused) return { refused };
    const judged = judgedBefore(
      candidate.leader.toolSequence,
      await this.verdicts.unlearned(owner),
      this.sameClusterFrom(candidate),
    );
    if (judged.length > 0 && !mayAskAgain(candidate, judged)) return { refused: 'judged_before' };
    return { refused: null, judged, liveNames: live.map(({ name }) => name) };
  }

  /**
   * The rules on a draft against the skills as they are now. In a transaction that holds the agent's skills nobody else
   * breaks them before it commits.
   */
  async draftProblem(draft: DraftedSkill): Promise<SynthesisRule | null> {
    const known = await this.skills.inStates(ownerOf(draft), ['active', 'stale', 'rejected']);
    const live = known.filter(({ state }) => state !== 'rejected');
    const name = draft.name.toLowerCase();
    if (live.some((skill) => skill.name.toLowerCase() === name)) return 'name_taken';
    const alike = nearDuplicates(draft.content, live);
    return alike.length > 0 ? 'near_duplicate' : this.sequenceProblem(draft.source, known);
  }

  /**
   * A rejected skill stands for its whole cluster: for what is as near to it as the members of a cluster are, and for what
   * half consists of its source turns, whoever leads them now.
   */
  private sequenceProblem(
    { toolSequence, episodeIds }: SourceTurns,
    known: readonly SkillRow[],
  ): 'duplicate_sequence' | 'rejected_before' | null {
    const { duplicate_jaccard_threshold: duplicate, cluster_jaccard_threshold: cluster } =
      this.settings.learning.skill_synthesis;
    const near = (skill: SkillRow, threshold: number): boolean => {
      const similarity = toolSimilarity(skill.tool_sequence, toolSequence);
      // At a threshold of 0 a skill without tools, as an operator writes them, is still like nothing.
      return similarity > 0 && similarity >= threshold;
    };
    const shares = ({ source_episode_ids: sources }: SkillRow): boolean =>
      episodeIds.filter((id) => sources.includes(id)).length * 2 >= episodeIds.length;
    const rejected = known.filter(({ state }) => state === 'rejected');
    if (rejected.some((skill) => near(skill, Math.min(duplicate, cluster)) || shares(skill))) return 'rejected_before';
    const live = known.filter(({ state }) => state !== 'rejected');
    return live.some((skill) => near(skill, duplicate)) ? 'duplicate_sequence' : null;
  }

  /** One turn is no cluster: it is what was judged before only where it would be a duplicate of that. */
  private sameClusterFrom({ trigger }: SkillCandidate): number {
    const settings = this.settings.learning.skill_synthesis;
    return trigger === 'clustered' ? settings.cluster_jaccard_threshold : settings.duplicate_jaccard_threshold;
  }
}

/** Single turns never ask again: how many there are by now is seen by the clustered path, which looks at all of them. */
function mayAskAgain(candidate: SkillCandidate, judged: readonly JudgedCluster[]): boolean {
  return candidate.trigger === 'clustered' && hasGrownByHalf(sourceOf(candidate), judged);
}
