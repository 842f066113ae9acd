import { Controller, Get, Query } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import type { Page } from '../../platform/http/page.js';
import { LearningHealthQuery } from './learning-health.dto.js';
import { LearningHealth, type LearningHealthView } from './learning-health.js';

@Controller('learning-health')
@Scope('read')
export class LearningHealthController {
  constructor(
    private readonly health: LearningHealth,
    private readonly agents: Agents,
  ) {}

  /** Whether each agent's skills are used, and whether turns that used one end better than others of the same kind. */
  @Get()
  async list(
    @CurrentPrincipal() { orgId }: Principal,
    @Query() { agent, below_threshold: belowThreshold, ...query }: LearningHealthQuery,
  ): Promise<Page<LearningHealthView>> {
    const agentId = agent === undefined ? undefined : (await this.agents.get(orgId, agent)).id;
    return this.health.list(orgId, { agentId, belowThreshold, ...query });
  }
}
