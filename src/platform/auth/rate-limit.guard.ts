import { Injectable, type ExecutionContext } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../http/api-error.js';
import type { RequestWithPrincipal } from './principal.js';

/** A bound on what one key may ask of one replica; protection against a runaway client, not a quota. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(!principalKey(context.switchToHttp().getRequest()));
  }

  protected override getTracker(request: RequestWithPrincipal): Promise<string> {
    return Promise.resolve(principalKey(request) ?? 'open');
  }

  protected override generateKey(_context: ExecutionContext, tracker: string, name: string): string {
    return `${name}:${tracker}`;
  }

  protected override throwThrottlingException(context: ExecutionContext, limit: ThrottlerLimitDetail): Promise<void> {
    const seconds = Math.max(1, Math.ceil(limit.timeToBlockExpire));
    context.switchToHttp().getResponse<FastifyReply>().header('retry-after', String(seconds));
    throw new ApiError(429, 'rate.limited', `This key has sent too many requests; try again in ${seconds} s.`);
  }
}

function principalKey(request: RequestWithPrincipal): string | null {
  return request.principal?.keyId ?? null;
}
