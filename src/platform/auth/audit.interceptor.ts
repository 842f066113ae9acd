import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, concatMap, from, type Observable, of, throwError } from 'rxjs';
import { problemOf } from '../http/problem.filter.js';
import { type AuditedCall, auditTargets, AuditTrail } from './audit-trail.js';
import type { RequestWithPrincipal } from './principal.js';
import { neededScope } from './scope.guard.js';

/** Leaves a row for every call that takes the scope `admin`, erasures among them; of one that changes something before it does. */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly trail: AuditTrail,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest & RequestWithPrincipal>();
    if (!request.principal || neededScope(this.reflector, context) !== 'admin') return next.handle();
    const reply = http.getResponse<FastifyReply>();
    const call: AuditedCall = {
      principal: request.principal,
      method: request.method,
      route: request.routeOptions.url ?? '',
      targets: auditTargets(request.params, request.body),
    };
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const begun = reads ? null : await this.trail.begin(call);
    const end = (status: number): Promise<void> =>
      begun === null ? this.trail.note(call, status) : this.trail.end(begun, status);
    return next.handle().pipe(
      concatMap((answer: unknown) => from(end(reply.statusCode)).pipe(concatMap(() => of(answer)))),
      catchError((error: unknown) => from(end(problemOf(error).status)).pipe(concatMap(() => throwError(() => error)))),
    );
  }
}
