import { Body, Controller, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import type { Page } from '../../platform/http/page.js';
import type { SkillAuthor } from './skill-author.js';
import { viewOf, type SkillVersionView, type SkillView } from './skill.models.js';
import { SkillRollbackRequest, SkillsQuery, SkillStateChange, SkillText, SkillVersionsQuery } from './skills.dto.js';
import { SkillsEditor } from './skills.editor.js';
import { skillNotFound, SkillReader } from './skill.reader.js';
import { SkillStates } from './skill.states.js';

/** A flagged write waits in quarantine. */
export interface QuarantinedSkill {
  quarantine_id: string;
  reason: string;
}

/** `:name` is the live skill of that name, else the one that was put away last. */
@Controller('agents/:id/skills')
export class SkillsController {
  constructor(
    private readonly agents: Agents,
    private readonly skills: SkillReader,
    private readonly editor: SkillsEditor,
    private readonly states: SkillStates,
  ) {}

  /** The agent's skills in all states, newest first. */
  @Get()
  @Scope('read')
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { state, ...page }: SkillsQuery,
  ): Promise<Page<SkillView>> {
    const { orgId, agent } = await this.author(principal, id);
    return this.skills.list({ orgId, agentId: agent.id }, { ...page, states: state && [state] });
  }

  @Get(':name')
  @Scope('read')
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
  ): Promise<SkillView> {
    return viewOf(await this.skills.get(await this.author(principal, id), name));
  }

  /** The live version first, then those before it, newest first. */
  @Get(':name/versions')
  @Scope('read')
  async versions(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
    @Query() page: SkillVersionsQuery,
  ): Promise<Page<SkillVersionView>> {
    return this.skills.versions(await this.author(principal, id), name, page);
  }

  /** 201 with the new skill, 200 with the one that was changed, 202 where the text was flagged. */
  @Put(':name')
  @Scope('admin')
  @ApiResponse({ status: 201, description: 'The skill that was created.' })
  @ApiResponse({ status: 202, description: 'The write was flagged and waits in quarantine.' })
  async put(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
    @Body() text: SkillText,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SkillView | QuarantinedSkill> {
    const result = await this.editor.put(await this.author(principal, id), name, text);
    if (result.status === 'quarantined') {
      reply.status(202);
      return { quarantine_id: result.quarantineId, reason: result.reason };
    }
    reply.status(result.status === 'created' ? 201 : 200);
    return viewOf(result.skill);
  }

  /** Pins or unpins, archives, rejects or brings back. */
  @Patch(':name')
  @Scope('admin')
  @ApiResponse({ status: 409, description: 'A live skill has taken the name or the last place.' })
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
    @Body() change: SkillStateChange,
  ): Promise<SkillView> {
    const author = await this.author(principal, id);
    const { id: skillId } = await this.skills.get(author, name);
    const skill = await this.states.change(author, skillId, change);
    if (!skill) throw skillNotFound();
    return viewOf(skill);
  }

  /** A new version that reads like an earlier one. */
  @Post(':name/rollback')
  @Scope('admin')
  @HttpCode(200)
  async rollback(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('name') name: string,
    @Body() { version }: SkillRollbackRequest,
  ): Promise<SkillView> {
    const author = await this.author(principal, id);
    const { id: skillId } = await this.skills.get(author, name);
    return viewOf(await this.editor.rollback(author, skillId, version));
  }

  private async author({ orgId }: Principal, idOrHandle: string): Promise<SkillAuthor> {
    const { id, handle, role } = await this.agents.get(orgId, idOrHandle);
    return { orgId, agent: { id, handle, role }, turnId: null, traceId: null, spanId: null };
  }
}
