import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Page } from '../../platform/http/page.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { OperatorSkills } from './operator-skills.js';
import { ScreenedToolSkills } from './screened-tool-skills.js';
import { readToolSkill } from './tool-skill.models.js';
import { pageByKey, viewOf, type ToolSkillView } from './tool-skill.view.js';
import { ToolSkillDraft, ToolSkillsQuery } from './tool-skills.dto.js';
import { ToolSkills } from './tool-skills.js';

/** A flagged write waits in quarantine. */
export interface QuarantinedSkill {
  quarantine_id: string;
  reason: string;
}

@Controller('tool-skills')
export class ToolSkillsController {
  constructor(
    private readonly skills: ToolSkills,
    private readonly operators: OperatorSkills,
    private readonly screened: ScreenedToolSkills,
  ) {}

  /** The tool skills in force, in the order of their keys: an operator's, else a page's, else a file's. */
  @Get()
  @Scope('read')
  async list(
    @CurrentPrincipal() { orgId }: Principal,
    @Query() { source, ...request }: ToolSkillsQuery,
  ): Promise<Page<ToolSkillView>> {
    const skills = await this.skills.all(orgId);
    return pageByKey(source === undefined ? skills : skills.filter((skill) => skill.source === source), request);
  }

  @Get(':key')
  @Scope('read')
  async get(@CurrentPrincipal() { orgId }: Principal, @Param('key') key: string): Promise<ToolSkillView> {
    const skill = await this.skills.get(orgId, key);
    if (!skill) throw new ApiError(404, 'tool_skill.not_found', 'There is no tool skill with this key.');
    return viewOf(skill);
  }

  /** Writes the organisation's own skill, which holds before pages and files of the same key; 202 where it was flagged. */
  @Put(':key')
  @Scope('admin')
  @ApiResponse({ status: 202, description: 'The write was flagged and waits in quarantine.' })
  @ApiResponse({ status: 409, description: 'The organisation has as many as it may (`tool_skill.too_many`).' })
  async put(
    @CurrentPrincipal() { orgId }: Principal,
    @Param('key') key: string,
    @Body() draft: ToolSkillDraft,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolSkillView | QuarantinedSkill> {
    if (draft.key !== undefined && draft.key !== null && draft.key !== key) {
      throw invalidRequest([{ path: 'key', message: 'key must be that of the path, or be left out' }]);
    }
    const { skill, problems } = readToolSkill({ ...draft, key });
    if (!skill) throw invalidRequest(problems);
    const written = await this.screened.put(orgId, skill);
    if (written.status === 'written') return viewOf(written.skill);
    reply.status(202);
    return { quarantine_id: written.quarantineId, reason: written.reason };
  }

  /** Removes the organisation's own skill; a page's or file's of the same key holds again. */
  @Delete(':key')
  @Scope('admin')
  @HttpCode(204)
  async remove(@CurrentPrincipal() { orgId }: Principal, @Param('key') key: string): Promise<void> {
    if (await this.operators.remove(orgId, key)) return;
    const other = await this.skills.get(orgId, key);
    const detail = other
      ? `This tool skill is not an operator's: it comes from ${other.source} (${other.origin}). Edit it there, or PUT another one over it.`
      : 'There is no tool skill with this key.';
    throw new ApiError(404, 'tool_skill.not_found', detail);
  }
}
