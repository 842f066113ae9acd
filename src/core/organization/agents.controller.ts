import { Controller, Get, Query } from '@nestjs/common';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import type { Page } from '../../platform/http/page.js';
import { Agents, type AgentView } from './agents.js';
import { AgentsQuery } from './agents.dto.js';

@Controller('agents')
export class AgentsController {
  constructor(private readonly agents: Agents) {}

  /** The agents of the organisation, newest first. */
  @Get()
  @Scope('read')
  list(@CurrentPrincipal() principal: Principal, @Query() query: AgentsQuery): Promise<Page<AgentView>> {
    return this.agents.list(principal.orgId, query);
  }
}
