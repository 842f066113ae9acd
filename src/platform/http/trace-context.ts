import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export interface TraceIds {
  traceId: string | null;
  spanId: string | null;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/;

/** The ids of a W3C `traceparent` header; null where it is absent or malformed, as the standard asks. */
export function traceIdsOf(header: unknown): TraceIds {
  const match = typeof header === 'string' ? TRACEPARENT.exec(header.trim()) : null;
  const [, traceId, spanId] = match ?? [];
  if (!traceId || !spanId || header?.toString().startsWith('ff') || /^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    return { traceId: null, spanId: null };
  }
  return { traceId, spanId };
}

export const CurrentTrace = createParamDecorator((_: unknown, context: ExecutionContext): TraceIds => {
  return traceIdsOf(context.switchToHttp().getRequest<FastifyRequest>().headers['traceparent']);
});
