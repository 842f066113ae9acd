import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsIn, IsObject, IsOptional, IsUUID } from 'class-validator';
import { Agents } from '../../core/organization/agents.js';
import { TURN_PHASES, type ToolDefinition, type ToolResult, type TurnPhase } from '../../core/turn/extension-points.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { CurrentTrace, type TraceIds } from '../../platform/http/trace-context.js';
import { ToolDispatch } from './tool-dispatch.js';
import { ToolRegistry } from './tool-registry.js';

export class ToolsQuery {
  /** Only the tools of this phase; all where absent. */
  @IsOptional()
  @IsIn(TURN_PHASES)
  phase: TurnPhase | null = null;
}

export class ToolCallDto {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))
  @IsUUID('all')
  turn_id: string;

  @IsIn(TURN_PHASES)
  phase: TurnPhase;

  /** As the model wrote them; what is wrong with them is answered with `is_error`. */
  @Transform(({ value }: { value: unknown }) => value ?? {})
  @IsObject()
  arguments: Record<string, unknown> = {};
}

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
