import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../http/api-error.js';
import type { RequestWithPrincipal, ScopeName } from './principal.js';
import { SCOPE } from './scope.decorator.js';

/** 403 unless the principal holds the route's scope. Who the principal is was settled before the body was read. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed = neededScope(this.reflector, context);
    if (needed === 'open') return true;
    const principal = context.switchToHttp().getRequest<RequestWithPrincipal>().principal;
    if (!principal) throw new ApiError(401, 'auth.required', 'An API key is required: Authorization: Bearer <key>.');
    if (!principal.scopes.includes(needed) && !principal.scopes.includes('admin')) {
      throw new ApiError(403, 'auth.scope_missing', `This route needs the scope "${needed}".`);
    }
    return true;
  }
}

/** What a route asks for; `admin` where it does not say. */
export function neededScope(reflector: Reflector, context: ExecutionContext): ScopeName | 'open' {
  const stated = reflector.getAllAndOverride<ScopeName | 'open' | undefined>(SCOPE, [
    context.getHandler(),
    context.getClass(),
  ]);
  return stated ?? 'admin';
}
