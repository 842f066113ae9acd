import { Injectable, Logger } from '@nestjs/common';
import { z } from 'zod';
import { BLOCKED } from '../../core/screening/blocked-text.js';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition, toolError } from '../../core/turn/tool-arguments.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { bestEffort } from '../../platform/jobs/best-effort.js';
import { aboutSkill, ownerOf } from './skill-author.js';
import { transitionOf } from './skill.events.js';
import { isLive, type SkillRow } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';
import { withheldReason } from './withheld-skill.js';

/** What `data` says of a skill that nobody has used for a while; the body itself comes verbatim. */
const STALE_WARNING =
  'This skill had not been used for a while: check that its steps still hold before you follow them.';

const schema = z.object({
  skill_name: z.string().describe('The name as it stands in your list of synthesized skills.'),
});

/** Loads a skill (mission, "use_skill returns verbatim"; telemetry rows `SkillUsed` and `use_count`). */
@Injectable()
export class UseSkillTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'use_skill',
    description:
      'Use when the task is what one of your synthesized skills is for: answers with its full text to follow.',
    arguments: schema,
  });
  readonly phases = ['plan', 'execute'] as const;

  private readonly log = new Logger(UseSkillTool.name);

  constructor(
    private readonly store: SynthesizedSkillStore,
    private readonly events: EventBus,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const name = read.value.skill_name.trim();
    const skill = await this.store.byName(ownerOf(call), name);
    if (!skill || !isLive(skill)) return this.notUsable(call, name, skill);
    const reason = withheldReason(skill);
    if (reason !== null) {
      return toolError(
        `${BLOCKED} The skill "${name}" may not be used until an operator has looked at it. Do the task without it.`,
        { reason },
      );
    }
    await this.count(call, skill);
    const { id, version, description } = skill;
    const warning = skill.state === 'stale' ? { warning: STALE_WARNING } : {};
    return {
      output: skill.content,
      is_error: false,
      data: { skill_id: id, name, version, description, stale: skill.state === 'stale', ...warning },
    };
  }

  /** Best effort (mission, "Best-effort rule"): a skill that cannot be counted is loaded all the same. */
  private async count(call: ToolCall, skill: SkillRow): Promise<void> {
    await bestEffort(this.log, `use of skill ${skill.id} of ${call.agent.handle} is not counted`, async () => {
      const marked = await this.store.markUsed(ownerOf(call), skill.id);
      if (!marked?.revived) return;
      this.events.publish('skill.revived', {
        ...aboutSkill(call),
        payload: {
          ...transitionOf(call, marked.skill, marked.skill.last_used_at ?? new Date()),
          prior_state: 'stale',
        },
      });
    });
    this.events.publish('skill.used', {
      ...aboutSkill(call),
      payload: { skill_name: skill.name, skill_id: skill.id, source_kind: 'synthesized', file_loaded: 'SKILL.md' },
    });
  }

  private async notUsable(call: ToolCall, name: string, skill: SkillRow | null): Promise<ToolResult> {
    const live = (await this.store.live(ownerOf(call))).map((own) => own.name);
    const choice =
      live.length > 0 ? `Your skills: ${live.join(', ')}.` : 'You have no skills yet; do the task without one.';
    const problem = skill
      ? `The skill "${name}" is archived and cannot be used.`
      : `No synthesized skill is named "${name}".`;
    return toolError(`${problem} ${choice}`, { skills: live });
  }
}
