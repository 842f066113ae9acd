import { Controller, Get, Param, Query } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { AgentMemory, type AgentMemoryView } from './agent-memory.js';

export class AgentMemoryQuery {
  /** Rows a section. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit: number = 50;
}

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
