import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { CurrentTrace, type TraceIds } from '../../platform/http/trace-context.js';
import { ExecuteContextDto } from './execute-context.dto.js';
import { ExecuteContexts } from './execute-contexts.js';

@Controller('agents/:id/execute-context')
@Scope('engine')
export class ExecuteContextController {
  constructor(private readonly contexts: ExecuteContexts) {}

  /** What the Execute phase of a thin-trigger turn should know, by its plan; an iteration answers the same bytes ever after. */
  @Post()
  @HttpCode(200)
  async resolve(
    @CurrentPrincipal() principal: Principal,
    @CurrentTrace() trace: TraceIds,
    @Param('id') agent: string,
    @Body() request: ExecuteContextDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const rendered = await this.contexts.ofIteration({ orgId: principal.orgId, agent, request, trace });
    await reply.status(200).header('content-type', 'application/json; charset=utf-8').send(rendered);
  }
}
