import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { Agents } from '../organization/agents.js';
import { QuarantineStore, type QuarantineView } from './quarantine.store.js';
import { QuarantineQuery } from './quarantine.dto.js';

@Controller('quarantine')
@Scope('admin')
export class QuarantineController {
  constructor(
    private readonly quarantine: QuarantineStore,
    private readonly agents: Agents,
  ) {}

  /** The writes that wait for a verdict, newest first. */
  @Get()
  async list(
    @CurrentPrincipal() { orgId }: Principal,
    @Query() { agent, ...page }: QuarantineQuery,
  ): Promise<Page<QuarantineView>> {
    const agentId = agent === undefined ? undefined : (await this.agents.get(orgId, agent)).id;
    return this.quarantine.list(orgId, { ...page, agentId });
  }

  /** Carries the write out as if it had never been flagged; 409 where that is no longer possible, and it stays held. */
  @Post(':id/release')
  @HttpCode(204)
  @ApiResponse({ status: 409, description: 'The write can no longer be carried out, and stays held.' })
  async release(@CurrentPrincipal() { orgId }: Principal, @Param('id', UuidParam) id: string): Promise<void> {
    if (!(await this.quarantine.release(orgId, id))) throw notFound();
  }

  /** Drops the write for good. */
  @Post(':id/discard')
  @HttpCode(204)
  async discard(@CurrentPrincipal() { orgId }: Principal, @Param('id', UuidParam) id: string): Promise<void> {
    if (!(await this.quarantine.discard(orgId, id))) throw notFound();
  }
}

function notFound(): ApiError {
  return new ApiError(404, 'quarantine.not_found', 'No write with this id waits in quarantine.');
}
