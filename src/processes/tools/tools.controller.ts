import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import type { ToolDefinition, ToolResult, TurnPhase } from '../../core/turn/extension-points.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { CurrentTrace, type TraceIds } from '../../platform/http/trace-context.js';
import { ToolDispatch } from './tool-dispatch.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolsQuery, ToolCallDto } from './tools.dto.js';

@Controller('agents/:id/tools')
@Scope('engine')
export class ToolsController {
  constructor(
    private readonly agents: Agents,
    private readonly registry: ToolRegistry,
    private readonly dispatch: ToolDispatch,
  ) {}

  /** The tools that the agent may be given, in the shape that Anthropic and MCP use. */
  @Get()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: ToolsQuery,
  ): Promise<{ items: (ToolDefinition & { phases: readonly TurnPhase[] })[] }> {
    await this.agents.get(principal.orgId, id);
    return { items: this.registry.inPhase(query.phase).map((tool) => ({ ...tool.definition, phases: tool.phases })) };
  }

  @Post(':name')
  @HttpCode(200)
  call(
    @CurrentPrincipal() principal: Principal,
    @CurrentTrace() trace: TraceIds,
    @Param('id') agent: string,
    @Param('name') tool: string,
    @Body() call: ToolCallDto,
  ): Promise<ToolResult> {
    return this.dispatch.call({
      orgId: principal.orgId,
      agent,
      tool,
      turnId: call.turn_id,
      phase: call.phase,
      arguments: call.arguments,
      trace,
    });
  }
}
