import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { CurrentTrace, type TraceIds } from '../../platform/http/trace-context.js';
import { PlanContextDto } from './plan-context.dto.js';
import { PlanContexts } from './plan-contexts.js';

@Controller('agents/:id/plan-context')
@Scope('engine')
export class PlanContextController {
  constructor(private readonly contexts: PlanContexts) {}

  /** The prompt blocks of a turn, resolved once; the same turn_id answers the same bytes ever after. */
  @Post()
  @HttpCode(200)
  async resolve(
    @CurrentPrincipal() principal: Principal,
    @CurrentTrace() trace: TraceIds,
    @Param('id') agent: string,
    @Body() request: PlanContextDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const rendered = await this.contexts.ofTurn({ orgId: principal.orgId, agent, request, trace });
    await reply.status(200).header('content-type', 'application/json; charset=utf-8').send(rendered);
  }
}
