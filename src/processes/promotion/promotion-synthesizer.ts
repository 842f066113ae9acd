import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { Agent } from '../../core/organization/agents.js';
import { skillDraftAnswer, skillDraftFormat } from '../../memories/skills/skill-synthesizer.answer.js';
import { skillProblem } from '../../memories/skills/skill.rules.js';
import { Settings } from '../../platform/config/settings.js';
import { renderDraft } from './draft-document.js';
import type { SkillCluster } from './promotion.models.js';
import { PROMOTION_SYNTHESIZER_RULES, promotionSynthesizerPrompt } from './promotion-synthesizer.prompt.js';

/** The name of its model calls. */
const PROMOTION_SYNTHESIZER = 'promotion_synthesizer';

/** On whose account, and where, the model is asked. */
export interface PromotionModel {
  agent: Agent;
  /** Not empty. */
  chain: readonly string[];
  signal: AbortSignal;
}

export type Distillate =
  | { outcome: 'draft'; id: string; name: string; description: string; content: string }
  /** `reason`: the rule that refused it, `unusable_answer`, or null where the model saw nothing to share. */
  | { outcome: 'refused'; reason: string | null };

/**
 * Distils what several agents of a unit have learned into a draft for their team (mission, "Cross-agent promotion"). The
 * rules on name, sizes and body are those of skills. Writes nothing.
 */
@Injectable()
export class PromotionSynthesizer {
  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly settings: Settings,
  ) {}

  /** @throws AuxiliaryUnavailable if no provider replied */
  async distil({ members }: SkillCluster, { agent, chain, signal }: PromotionModel): Promise<Distillate> {
    const { skill_promotion: promotion, skill_refinement: refinement } = this.settings.learning;
    const answer = await this.auxiliary.ask({
      orgId: agent.orgId,
      agent,
      chain,
      turnId: null,
      worker: PROMOTION_SYNTHESIZER,
      system: PROMOTION_SYNTHESIZER_RULES,
      user: promotionSynthesizerPrompt(members),
      schema: skillDraftAnswer,
      format: skillDraftFormat,
      maxTokens: promotion.budget_tokens,
      signal,
    });
    if (answer.kind === 'noop') return { outcome: 'refused', reason: null };
    if (answer.kind !== 'answer') return { outcome: 'refused', reason: 'unusable_answer' };
    const { name, description, body } = answer.value;
    const problem = skillProblem({ name, description, content: body }, refinement.max_body_chars);
    if (problem) return { outcome: 'refused', reason: problem.rule };
    const id = randomUUID();
    return { outcome: 'draft', id, name, description, content: renderDraft({ id, description, body, members }) };
  }
}
