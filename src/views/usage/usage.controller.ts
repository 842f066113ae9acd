import { Controller, Get, Query } from '@nestjs/common';
import { UsageMeter, type UsageView } from '../../core/auxiliary/usage-meter.js';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import type { Page } from '../../platform/http/page.js';
import { UsageQuery } from './usage.dto.js';

@Controller('usage')
@Scope('read')
export class UsageController {
  constructor(
    private readonly meter: UsageMeter,
    private readonly agents: Agents,
  ) {}

  /** What learning's own model calls cost, by UTC day, agent, worker and provider; newest day first. */
  @Get()
  async list(
    @CurrentPrincipal() { orgId }: Principal,
    @Query() { agent, ...query }: UsageQuery,
  ): Promise<Page<UsageView>> {
    const agentId = agent === undefined ? undefined : (await this.agents.get(orgId, agent)).id;
    return this.meter.list({ orgId, agentId, ...query });
  }
}
