import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsObject, IsOptional, IsString } from 'class-validator';
import { OrDefault } from '../../platform/http/dto-decorators.js';
import { PageQuery } from '../../platform/http/page.js';
import { TOOL_SKILL_SOURCES, type ToolSkillSource } from './tool-skill.models.js';
import type { ToolSkillTrigger } from './tool-skill.trigger.js';

export class ToolSkillsQuery extends PageQuery {
  @IsOptional()
  @IsIn(TOOL_SKILL_SOURCES)
  source?: ToolSkillSource;
}

/** As in the frontmatter of a file. */
export class ToolSkillDraft {
  /** That of the path, where it is given. */
  @IsOptional()
  @IsString()
  key?: string;

  /** Exactly one of `tool`, `mcp_server`, `any_of` and `all_of`; the last two hold triggers. */
  @IsObject()
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { any_of: [{ tool: 'post' }, { mcp_server: 'plane' }] },
  })
  trigger: ToolSkillTrigger;

  /** `plan`, `execute`, `review`; `subagent` is accepted and left out. */
  @IsArray()
  @IsString({ each: true })
  phases: string[];

  @IsString()
  title: string;

  /** One line, at most 240 bytes. */
  @IsString()
  summary: string;

  /** Whether it must be read before the tool is used. */
  @OrDefault(() => true)
  @IsBoolean()
  required: boolean = true;

  /** Markdown, at most 32,768 bytes. */
  @IsString()
  body: string;
}
