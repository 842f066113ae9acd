import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition, toolError } from '../../core/turn/tool-arguments.js';
import { Settings } from '../../platform/config/settings.js';
import { clipText } from '../../platform/text/storable-text.js';
import { ScreenedSkills } from './screened-skills.js';
import { ownerOf } from './skill-author.js';
import { asListItem } from './skill-notes.js';
import type { SkillRow } from './skill.models.js';
import type { SkillWriteResult } from './skill-writer.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** UTF-16 code units of a reason that stay in the history. */
const REASON_LIMIT = 400;

const schema = z.object({
  name: z.string().describe('The name of one of your synthesized skills.'),
  content: z
    .string()
    .refine((content) => content.trim() !== '', 'content must not be blank')
    .describe('append: what the skill does not say yet, in one line. replace_body: the whole new body.'),
  action: z.enum(['append', 'replace_body']).default('append'),
  reason: z.string().optional().describe('Why, for those who read the history of the skill.'),
  base_version: z
    .int()
    .optional()
    .describe('The version that you have read: the change is refused where the skill has moved on since.'),
});

type Arguments = z.output<typeof schema>;

/**
 * The manual path of refinement (mission, "Patch-on-encounter"): the planner mends a skill of its own as soon as it finds it
 * outdated. A `replace_body` without `base_version` replaces whatever is there, notes that others have added meanwhile
 * included; the version before it keeps them, and the answer says which one that is.
 */
@Injectable()
export class RefineSkillTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'refine_skill',
    description:
      'Use when one of your synthesized skills turns out wrong, outdated or incomplete: mends it at once and for good.',
    arguments: schema,
  });
  readonly phases = ['plan'] as const;

  constructor(
    private readonly store: SynthesizedSkillStore,
    private readonly skills: ScreenedSkills,
    private readonly settings: Settings,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    if (!this.settings.learning.skill_refinement.enabled) {
      return toolError('Skills are not refined here: the operator has switched it off.');
    }
    const name = read.value.name.trim();
    const skill = await this.store.byName(ownerOf(call), name);
    if (!skill || skill.state === 'rejected') return this.unknown(call, name);
    if (skill.state === 'archived') return toolError(`The skill "${name}" is archived and cannot be refined.`);
    return answerOf(await this.write(call, skill, read.value), name);
  }

  private async write(call: ToolCall, skill: SkillRow, wanted: Arguments): ReturnType<ScreenedSkills['edit']> {
    const { agent, orgId, turnId, traceId, spanId } = call;
    const author = { agent, orgId, turnId, traceId, spanId };
    const common = {
      skillId: skill.id,
      kind: 'refine_skill_tool' as const,
      note: wanted.reason === undefined ? null : clipText(wanted.reason, REASON_LIMIT),
    };
    const base = wanted.base_version ?? null;
    if (wanted.action === 'append') {
      const text = asListItem(wanted.content);
      return this.skills.edit(author, { ...common, operation: 'append', text, automatic: false, baseVersion: base });
    }
    return this.skills.edit(author, {
      ...common,
      operation: 'replace',
      content: wanted.content,
      description: null,
      baseVersion: base,
      byOperator: false,
    });
  }

  private async unknown(call: ToolCall, name: string): Promise<ToolResult> {
    const live = (await this.store.live(ownerOf(call))).map((skill) => skill.name);
    const choice = live.length > 0 ? `Your skills: ${live.join(', ')}.` : 'You have no skills yet.';
    return toolError(`No synthesized skill is named "${name}". ${choice}`, { skills: live });
  }
}

function answerOf(result: Awaited<ReturnType<ScreenedSkills['edit']>>, name: string): ToolResult {
  if (result.status === 'quarantined') {
    return {
      output: `Held for an operator to look at (${result.reason}); the skill is not changed yet.`,
      is_error: false,
      data: { quarantine_id: result.quarantineId, reason: result.reason },
    };
  }
  return result.status === 'refused' ? refusal(result) : written(result, name);
}

function refusal({ message, rule, skill }: SkillWriteResult & { status: 'refused' }): ToolResult {
  return toolError(`Not changed: ${message}.`, { rule, current_version: skill?.version ?? null });
}

function written({ status, skill }: Exclude<SkillWriteResult, { status: 'refused' }>, name: string): ToolResult {
  const { id, version } = skill;
  const data = { skill_id: id, name, version, changed: status === 'written' };
  if (status === 'unchanged') {
    return { output: `Nothing to change: "${name}" says so already. version=${version}`, is_error: false, data };
  }
  const output = `Refined "${name}": version=${version}. What it said before is kept as version ${version - 1}.`;
  return { output, is_error: false, data };
}
