import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { toolSimilarity } from '../../core/similarity/tool-similarity.js';
import type { ReflectionInput, ReflectionWorker, StoredTurn, WorkerResult } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { ScreenedSkills } from './screened-skills.js';
import type { SkillAuthor } from './skill-author.js';
import { isTransient, noteLine, saysAlready, type NotedOutcome } from './skill-notes.js';
import { bodyProblem } from './skill.rules.js';
import type { SkillOwner, SkillRow } from './skill.models.js';
import {
  SKILL_REFINER_RULES,
  skillRefinerAnswer,
  skillRefinerFormat,
  skillRefinerPrompt,
} from './skill-refiner.prompt.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';
import { withheldReason } from './withheld-skill.js';

/**
 * Improves a skill by the turns that used it (mission, "SkillRefiner", auto path): at most one note a turn, on the skill
 * that was central to it.
 */
@Injectable()
export class SkillRefiner implements ReflectionWorker {
  readonly name = 'skill_refiner';

  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly store: SynthesizedSkillStore,
    private readonly skills: ScreenedSkills,
    private readonly settings: Settings,
  ) {}

  async skipReason({ turn: stored, role }: ReflectionInput): Promise<string | null> {
    const { turn } = stored;
    if (turn.review_outcome === 'self_iterate') return 'non_terminal';
    const { enabled, auto_refine_on_success, auto_refine_on_failure } = this.settings.learning.skill_refinement;
    const wanted = turn.review_outcome === 'done' ? auto_refine_on_success : auto_refine_on_failure;
    if (!enabled || !wanted) return 'disabled';
    const skill = await this.central(stored);
    if (!skill) return 'no_skills_used';
    if (skill.pinned || skill.operator_edited) return 'pinned';
    if (withheldReason(skill) !== null) return 'withheld';
    // The model that the agent works with was not there: that says nothing about the skill.
    if (turn.failure_reason === 'llm_unavailable') return 'transient_fault';
    return role.chain.length === 0 ? 'no_model' : null;
  }

  async run(input: ReflectionInput): Promise<WorkerResult> {
    const { orgId, agent, turn, traceId, spanId } = input.turn;
    const skill = await this.central(input.turn);
    if (!skill) return { outcome: 'noop', reason: 'unknown_skill' };
    const { max_body_chars: limit, budget_tokens: maxTokens } = this.settings.learning.skill_refinement;
    // Not a character more fits in: nothing is worth asking for.
    if (bodyProblem(`${skill.content}\n- `, limit)) return { outcome: 'noop', reason: 'body_too_long' };
    const answer = await this.auxiliary.ask({
      orgId,
      agent,
      chain: input.role.chain,
      turnId: turn.turn_id,
      traceId,
      spanId,
      worker: this.name,
      system: SKILL_REFINER_RULES,
      user: skillRefinerPrompt(input.turn, skill),
      schema: skillRefinerAnswer,
      format: skillRefinerFormat,
      maxTokens,
      signal: input.signal,
    });
    if (answer.kind === 'unusable') return { outcome: 'failed', reason: 'unusable_answer', error: answer.reason };
    return answer.kind === 'noop' ? { outcome: 'noop' } : this.resultOf(input.turn, skill, answer.value.note ?? '');
  }

  /** Each skill that the turn used has one more done or failed turn, whatever became of the note. */
  async settle({ turn: { orgId, agent, turn } }: ReflectionInput): Promise<void> {
    if (turn.review_outcome === 'self_iterate' || turn.skills_used.length === 0) return;
    await this.store.countOutcome({ orgId, agentId: agent.id }, turn.skills_used, turn.review_outcome);
  }

  private resultOf(stored: StoredTurn, skill: SkillRow, note: string): WorkerResult {
    const outcome: NotedOutcome = stored.turn.review_outcome === 'failed' ? 'failed' : 'done';
    const line = noteLine(outcome, note);
    if (line === null) return { outcome: 'noop' };
    if (isTransient(line)) return { outcome: 'noop', reason: 'transient_fault' };
    if (saysAlready(line, skill.content)) return { outcome: 'noop', reason: 'already_said' };
    const { orgId, agent, turn, traceId, spanId } = stored;
    const author: SkillAuthor = { orgId, agent, turnId: turn.turn_id, traceId, spanId };
    return {
      outcome: 'done',
      apply: async () => {
        const result = await this.skills.edit(author, {
          operation: 'append',
          skillId: skill.id,
          text: line,
          kind: outcome === 'failed' ? 'counter_example' : 'observed_in_practice',
          note: null,
          automatic: true,
          baseVersion: null,
        });
        if (result.status === 'quarantined') return { outcome: 'done', reason: 'quarantined' };
        if (result.status === 'unchanged') return { outcome: 'noop', reason: 'already_said' };
        return result.status === 'refused' ? { outcome: 'noop', reason: result.rule } : { outcome: 'done' };
      },
    };
  }

  /**
   * Of the agent's own live skills that the turn used the one that its tools were most like those of; of equally like
   * ones, as where nothing is known of their tools, the one that was loaded last.
   */
  private async central({ orgId, agent, turn }: StoredTurn): Promise<SkillRow | null> {
    if (turn.skills_used.length === 0) return null;
    const owner: SkillOwner = { orgId, agentId: agent.id };
    const live = new Map((await this.store.live(owner)).map((skill) => [skill.name, skill]));
    let central: { name: string; similarity: number } | null = null;
    for (const name of turn.skills_used) {
      const skill = live.get(name);
      if (!skill) continue;
      const similarity = toolSimilarity(turn.tool_sequence, skill.tool_sequence);
      if (!central || similarity >= central.similarity) central = { name, similarity };
    }
    return central && this.store.liveByName(owner, central.name);
  }
}
