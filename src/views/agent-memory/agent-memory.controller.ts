import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { AgentMemory, type AgentMemoryView } from './agent-memory.js';
import { AgentMemoryQuery } from './agent-memory.dto.js';

@Controller('agents/:id/memory')
export class AgentMemoryController {
  constructor(private readonly memory: AgentMemory) {}

  /** What the agent has learned: memories, episodes, profiles, skills. */
  @Get()
  @Scope('read')
  read(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: AgentMemoryQuery,
  ): Promise<AgentMemoryView> {
    return this.memory.of(principal.orgId, id, query.limit);
  }
}
