import { Injectable } from '@nestjs/common';
import type { BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { readable, skillsFor, surroundingsOf } from './tool-skill.reading.js';
import { renderCatalogue } from './tool-skill.catalogue.js';
import { ToolSkills } from './tool-skills.js';

/** `## Tool skills`: how the organisation wants the tools used that the role has. */
@Injectable()
export class ToolSkillsBlock implements PlanBlock {
  readonly key = 'tool_skills';
  readonly heading = '## Tool skills';

  constructor(
    private readonly skills: ToolSkills,
    private readonly settings: Settings,
  ) {}

  async resolve(context: PlanContext): Promise<BlockResult> {
    const all = await this.skills.all(context.orgId);
    const surroundings = surroundingsOf(context);
    const { variables } = this.settings.tool_skills;
    const own = skillsFor(all, 'plan', surroundings).map((skill) => readable(skill, { surroundings, variables }));
    if (own.length === 0) {
      return { text: '', selection_count: 0, reason: all.length === 0 ? 'nothing_stored' : 'not_applicable' };
    }
    const text = renderCatalogue(own, { loadable: surroundings.tools.has('load_tool_skill') });
    return { text, selection_count: own.length, reason: 'selected' };
  }
}
