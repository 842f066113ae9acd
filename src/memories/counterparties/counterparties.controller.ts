import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { PageQuery, type Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { CounterpartiesQuery, CounterpartyChange, CounterpartyLink } from './counterparties.dto.js';
import { CounterpartyEditor } from './counterparty.editor.js';
import type { ObservationView, ProfileRef, ProfileView } from './counterparty.models.js';
import { CounterpartyReader } from './counterparty-reader.js';

@Controller('agents/:id/counterparties')
export class CounterpartiesController {
  constructor(
    private readonly agents: Agents,
    private readonly reader: CounterpartyReader,
    private readonly editor: CounterpartyEditor,
  ) {}

  /** Whom the agent knows, those first whom it met last; with `q` those whose names or traits match, best first. */
  @Get()
  @Scope('read')
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { q, limit, cursor }: CounterpartiesQuery,
  ): Promise<Page<ProfileView>> {
    const agent = await this.agents.get(principal.orgId, id);
    const observer = { orgId: principal.orgId, agentId: agent.id };
    if (q === undefined) return this.reader.list(observer, { limit, cursor });
    const items = await this.reader.search(observer, q, limit);
    return { items, next_cursor: null, total: items.length };
  }

  /** What was observed of the subject and by operators set down, latest first: also what holds no longer. */
  @Get(':profile_id/observations')
  @Scope('read')
  async observations(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('profile_id', UuidParam) profileId: string,
    @Query() query: PageQuery,
  ): Promise<Page<ObservationView>> {
    const ref = await this.refOf(principal, id, profileId);
    const found = await this.editor.get(ref);
    return this.reader.observations({ ...ref, id: found.id }, query);
  }

  @Patch(':profile_id')
  @Scope('admin')
  @ApiResponse({ status: 202, description: 'The write was flagged and waits in quarantine.' })
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('profile_id', UuidParam) profileId: string,
    @Body() change: CounterpartyChange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProfileView | { quarantine_id: string; reason: string }> {
    const result = await this.editor.change(await this.refOf(principal, id, profileId), change);
    if ('profile' in result) return result.profile;
    reply.status(202);
    return result;
  }

  /** Forgets the subject: the profile, its observations and under which names it was known. */
  @Delete(':profile_id')
  @Scope('admin')
  @HttpCode(204)
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('profile_id', UuidParam) profileId: string,
  ): Promise<void> {
    await this.editor.remove(await this.refOf(principal, id, profileId));
  }

  /** The two profiles are one subject: the one in the body is merged into the one in the path. */
  @Post(':profile_id/link')
  @Scope('admin')
  @HttpCode(200)
  async link(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('profile_id', UuidParam) profileId: string,
    @Body() link: CounterpartyLink,
  ): Promise<ProfileView> {
    return this.editor.link(await this.refOf(principal, id, profileId), link.profile_id.toLowerCase());
  }

  private async refOf(principal: Principal, agent: string, profileId: string): Promise<ProfileRef> {
    const { id } = await this.agents.get(principal.orgId, agent);
    return { orgId: principal.orgId, agentId: id, id: profileId };
  }
}
