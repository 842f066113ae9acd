import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { BLOCKED } from '../../core/screening/blocked-text.js';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition, toolError } from '../../core/turn/tool-arguments.js';
import { Settings } from '../../platform/config/settings.js';
import { clipText } from '../../platform/text/storable-text.js';
import { readable, skillsFor, surroundingsOf } from './tool-skill.reading.js';
import { ToolSkills } from './tool-skills.js';

const schema = z.object({
  key: z
    .string()
    .refine((key) => key.trim() !== '', 'key must not be empty')
    .describe('The key as it stands in Tool skills.'),
});

/** The whole of a tool skill that the plan prompt had only a line of (mission, "Prompt scaffolding"). */
@Injectable()
export class LoadToolSkillTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'load_tool_skill',
    description:
      'Use when Tool skills lists guidance for what you are about to do in one line: gives you the whole of it.',
    arguments: schema,
  });
  readonly phases = ['plan', 'execute', 'review'] as const;

  constructor(
    private readonly skills: ToolSkills,
    private readonly settings: Settings,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const key = read.value.key.trim();
    const surroundings = call.context && surroundingsOf(call.context);
    const offered = skillsFor(await this.skills.all(call.orgId), call.phase, surroundings);
    const found = offered.find((skill) => skill.key === key);
    if (!found) {
      const keys = offered.map((skill) => skill.key);
      const instead = keys.length === 0 ? 'You have none in this phase.' : `You have: ${keys.join(', ')}.`;
      return toolError(`There is no tool skill "${clipText(key, 128)}" for you in phase ${call.phase}. ${instead}`, {
        keys,
      });
    }
    const skill = readable(found, { surroundings, variables: this.settings.tool_skills.variables });
    if (skill.blocked !== null) {
      return toolError(`${BLOCKED} The tool skill ${key} may not be used until an operator has looked at it.`, {
        reason: skill.blocked,
      });
    }
    return {
      output: `# ${skill.title}\n\n${skill.body}`,
      is_error: false,
      data: { key, title: skill.title, required: skill.required, source: found.source },
    };
  }
}
