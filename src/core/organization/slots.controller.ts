import { Controller, Delete, HttpCode, Param, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { ExecutionSlots, type ExecutionSlot } from './execution-slots.js';

/** Seconds after which a refused client may ask again: a slot lives no longer than two minutes unrenewed. */
const RETRY_AFTER_SECONDS = 5;
const MAX_ROLE_LENGTH = 200;

@Controller()
@Scope('engine')
export class SlotsController {
  constructor(private readonly slots: ExecutionSlots) {}

  /** A slot for a live turn of the role, for 120 seconds. */
  @Post('roles/:role/slots')
  async acquire(
    @CurrentPrincipal() principal: Principal,
    @Param('role') role: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExecutionSlot> {
    if (role.length > MAX_ROLE_LENGTH) {
      throw invalidRequest([{ path: 'role', message: `role must be at most ${MAX_ROLE_LENGTH} characters` }]);
    }
    const slot = await this.slots.acquireForTurn(principal.orgId, role);
    if (slot) return slot;
    reply.header('retry-after', String(RETRY_AFTER_SECONDS));
    throw new ApiError(
      429,
      'slot.none_free',
      `All slots of the role are taken; try again in ${RETRY_AFTER_SECONDS} s.`,
    );
  }

  /** Another 120 seconds. */
  @Put('slots/:id')
  async renew(@CurrentPrincipal() principal: Principal, @Param('id', UuidParam) id: string): Promise<ExecutionSlot> {
    const slot = await this.slots.renew(principal.orgId, id);
    if (!slot) throw new ApiError(404, 'slot.not_found', 'This slot has ended.');
    return slot;
  }

  @Delete('slots/:id')
  @HttpCode(204)
  async release(@CurrentPrincipal() principal: Principal, @Param('id', UuidParam) id: string): Promise<void> {
    await this.slots.release(principal.orgId, id);
  }
}
