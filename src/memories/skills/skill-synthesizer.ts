import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { WorkerResult } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import type { JudgedCluster } from './cluster-memory.js';
import { ownerOf } from './skill-author.js';
import { ScreenedDrafts } from './screened-drafts.js';
import { renderSkillDocument } from './skill-document.js';
import { SkillGuards } from './skill-guards.js';
import { type SkillDraftAnswer, skillDraftAnswer, skillDraftFormat } from './skill-synthesizer.answer.js';
import { SKILL_SYNTHESIZER_RULES, skillSynthesizerPrompt } from './skill-synthesizer.prompt.js';
import { type SkillCandidate, sourceOf } from './skill-synthesis.models.js';
import type { SkillOwner } from './skill.models.js';
import { skillProblem } from './skill.rules.js';

/** Also the name of the reflection worker and of its model calls. */
export const SKILL_SYNTHESIZER = 'skill_synthesizer';

/** Where the model is asked. */
export interface SynthesisModel {
  /** The names of the auxiliary providers, in the order in which they are tried; not empty. */
  chain: readonly string[];
  signal: AbortSignal;
}

/**
 * Drafts a skill from turns that went well (mission, "SkillSynthesizer"), for both trigger paths: a single turn, or a
 * cluster of turns with similar tool sequences. What can be refused without the model is refused before it is asked.
 */
@Injectable()
export class SkillSynthesizer {
  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly guards: SkillGuards,
    private readonly skills: ScreenedDrafts,
    private readonly settings: Settings,
  ) {}

  /** Those of an agent's candidates that nothing which can be seen without the model is against. */
  worthAsking<Candidate extends SkillCandidate>(
    owner: SkillOwner,
    candidates: readonly Candidate[],
  ): Promise<Candidate[]> {
    return this.guards.allowed(owner, candidates);
  }

  /**
   * Writes nothing; what it answers does, in the transaction that its caller runs: the skill, the marks on its source
   * episodes and the verdict on them, or the verdict alone. A refusal that cost no call leaves no verdict.
   *
   * @throws AuxiliaryUnavailable if no provider replied
   */
  async synthesize(candidate: SkillCandidate, model: SynthesisModel): Promise<WorkerResult> {
    const guard = await this.guards.check(candidate);
    if (guard.refused !== null) return { outcome: 'noop', reason: guard.refused };
    const { orgId, agent, turnId, traceId, spanId } = candidate;
    const answer = await this.auxiliary.ask({
      orgId,
      agent,
      chain: model.chain,
      turnId,
      traceId,
      spanId,
      worker: SKILL_SYNTHESIZER,
      system: SKILL_SYNTHESIZER_RULES,
      user: skillSynthesizerPrompt(candidate, guard.liveNames),
      schema: skillDraftAnswer,
      format: skillDraftFormat,
      maxTokens: this.settings.learning.skill_synthesis.budget_tokens,
      signal: model.signal,
    });
    if (answer.kind === 'answer') return this.resultOf(candidate, answer.value, guard.judged);
    if (answer.kind === 'noop') {
      return { outcome: 'noop', apply: () => this.refuse(candidate, guard.judged, null) };
    }
    const reason = 'unusable_answer';
    return {
      outcome: 'failed',
      reason,
      error: answer.reason,
      apply: () => this.refuse(candidate, guard.judged, reason),
    };
  }

  private resultOf(
    candidate: SkillCandidate,
    { name, description, body }: SkillDraftAnswer,
    judged: readonly JudgedCluster[],
  ): WorkerResult {
    const limit = this.settings.learning.skill_refinement.max_body_chars;
    const problem = skillProblem({ name, description, content: body }, limit);
    if (problem) {
      const { rule: reason, message: error } = problem;
      return { outcome: 'noop', reason, error, apply: () => this.refuse(candidate, judged, reason) };
    }
    const { orgId, agent, trigger, turnId, traceId, spanId } = candidate;
    const source = sourceOf(candidate);
    const content = renderSkillDocument({ name, description, body, sourceTurnIds: source.turnIds }, limit);
    const draft = { orgId, agent, trigger, turnId, traceId, spanId, source, name, description, content };
    return { outcome: 'done', apply: () => this.skills.settle({ draft, judged }) };
  }

  private refuse(candidate: SkillCandidate, judged: readonly JudgedCluster[], reason: string | null): Promise<void> {
    return this.skills.refuse(ownerOf(candidate), { source: sourceOf(candidate), judged, reason });
  }
}
