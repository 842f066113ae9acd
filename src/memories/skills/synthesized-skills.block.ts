import { Injectable } from '@nestjs/common';
import { oneLine } from '../../core/auxiliary/fence.js';
import { unlessFlagged } from '../../core/screening/blocked-text.js';
import type { BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { mostRelevantFirst, mostUsedFirst } from './skill-choice.js';
import type { SkillSummary } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** UTF-16 code units of the whole block, and of one description. */
const BLOCK_LIMIT = 3_000;
const DESCRIPTION_LIMIT = 200;

const FOOTER =
  'Load a skill with use_skill before you do what it is for. As soon as one turns out wrong, outdated or incomplete, mend ' +
  'it with refine_skill.';

/**
 * `## Synthesized skills you've learned`: the agent's own live skills by name (mission, "Plan-phase blocks"). Where all fit
 * they stand newest first; else the most relevant to the trigger are chosen, and where the trigger says too little, the
 * most used.
 */
@Injectable()
export class SynthesizedSkillsBlock implements PlanBlock {
  readonly key = 'synthesized_skills';
  readonly heading = "## Synthesized skills you've learned";

  constructor(private readonly store: SynthesizedSkillStore) {}

  async resolve(context: PlanContext): Promise<BlockResult> {
    const skills = await this.store.live({ orgId: context.orgId, agentId: context.agent.id });
    if (skills.length === 0) return { text: '', selection_count: 0, reason: 'nothing_stored' };
    const all = skills.map(lineOf);
    const text = [...all, FOOTER].join('\n');
    if (text.length <= BLOCK_LIMIT) return { text, selection_count: skills.length, reason: 'selected' };
    const ordered = context.requiresRecon ? mostUsedFirst(skills) : mostRelevantFirst(skills, context.salientText);
    return { ...clipped(ordered), reason: 'selected' };
  }
}

/** As many as fit, with a word on those that do not. */
function clipped(ordered: readonly SkillSummary[]): { text: string; selection_count: number } {
  const lines: string[] = [];
  // The count of those left out never has more digits than that of all.
  let length = FOOTER.length + leftOut(ordered.length).length + 1;
  for (const skill of ordered) {
    const line = lineOf(skill);
    if (length + line.length + 1 > BLOCK_LIMIT) break;
    length += line.length + 1;
    lines.push(line);
  }
  const text = [...lines, leftOut(ordered.length - lines.length), FOOTER].join('\n');
  return { text, selection_count: lines.length };
}

function leftOut(count: number): string {
  return `(${count} more of your skills are not shown)`;
}

function lineOf(skill: SkillSummary): string {
  const stale = skill.state === 'stale' ? '[stale] ' : '';
  return `- ${stale}**${skill.name}**: ${descriptionOf(skill)}`;
}

/** Stored text that is flagged by now does not reach a prompt, unless an operator has let it through. */
function descriptionOf(skill: SkillSummary): string {
  const shown = oneLine(skill.description, DESCRIPTION_LIMIT);
  return skill.operator_released ? shown : unlessFlagged(shown, [skill.description], 'procedure');
}
