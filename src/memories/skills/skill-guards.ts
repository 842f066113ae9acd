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
import type { SkillOwner, SkillSummary } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

export type GuardVerdict =
  | { refused: SynthesisRule }
  /** `judged`: the verdicts on the cluster so far, which the next one replaces. */
  | { refused: null; judged: JudgedCluster[]; liveNames: string[] };

/** What an agent's candidates are compared with. */
interface Learned {
  /** Skills that are live or rejected. */
  known: SkillSummary[];
  unlearned: JudgedCluster[];
}

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
    return this.judge(candidate, await this.learned(ownerOf(candidate)));
  }

  /** Those of an agent's candidates that `check` has nothing against. */
  async allowed<Candidate extends SkillCandidate>(
    owner: SkillOwner,
    candidates: readonly Candidate[],
  ): Promise<Candidate[]> {
    if (candidates.length === 0) return [];
    const learned = await this.learned(owner);
    return candidates.filter((candidate) => this.judge(candidate, learned).refused === null);
  }

  private async learned(owner: SkillOwner): Promise<Learned> {
    return {
      known: await this.skills.inStates(owner, ['active', 'stale', 'rejected']),
      unlearned: await this.verdicts.unlearned(owner),
    };
  }

  private judge(candidate: SkillCandidate, { known, unlearned }: Learned): GuardVerdict {
    const live = known.filter(({ state }) => state !== 'rejected');
    if (live.length >= this.settings.learning.skill_synthesis.max_skills_per_agent) return { refused: 'skill_cap' };
    const refused = this.sequenceProblem(sourceOf(candidate), known);
    if (refused) return { refused };
    const judged = judgedBefore(candidate.leader.toolSequence, unlearned, this.sameClusterFrom(candidate));
    if (judged.length > 0 && !mayAskAgain(candidate, judged)) return { refused: 'judged_before' };
    return { refused: null, judged, liveNames: live.map(({ name }) => name) };
  }

  /**
   * The rules on a draft against the skills as they are now. In a transaction that holds the agent's skills nobody else
   * breaks them before it commits.
   */
  async draftProblem(draft: DraftedSkill): Promise<SynthesisRule | null> {
    const owner = ownerOf(draft);
    const known = await this.skills.inStates(owner, ['active', 'stale', 'rejected']);
    if (known.some(({ state, name }) => state !== 'rejected' && name === draft.name)) return 'name_taken';
    const alike = nearDuplicates(draft.content, await this.skills.liveBodies(owner));
    return alike.length > 0 ? 'near_duplicate' : this.sequenceProblem(draft.source, known);
  }

  /**
   * A rejected skill stands for its whole cluster: for what is as near to it as the members of a cluster are, and for what
   * half consists of its source turns, whoever leads them now.
   */
  private sequenceProblem(
    { toolSequence, episodeIds }: SourceTurns,
    known: readonly SkillSummary[],
  ): 'duplicate_sequence' | 'rejected_before' | null {
    const { duplicate_jaccard_threshold: duplicate, cluster_jaccard_threshold: cluster } =
      this.settings.learning.skill_synthesis;
    const near = (skill: SkillSummary, threshold: number): boolean => {
      const similarity = toolSimilarity(skill.tool_sequence, toolSequence);
      // At a threshold of 0 a skill without tools, as an operator writes them, is still like nothing.
      return similarity > 0 && similarity >= threshold;
    };
    const shares = ({ source_episode_ids: sources }: SkillSummary): boolean =>
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
