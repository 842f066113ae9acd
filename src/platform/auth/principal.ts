import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

export const scopes = ['engine', 'read', 'admin'] as const;
export type ScopeName = (typeof scopes)[number];

/** Who sent a request and for which organisation. Everything a request may touch is scoped by `orgId`. */
export interface Principal {
  orgId: string;
  scopes: readonly ScopeName[];
  /** Null where the service is open (no ADMIN_API_KEY). */
  keyId: string | null;
  /** What the key was called when it was made; null where `keyId` is. */
  keyName: string | null;
  /** True for ADMIN_API_KEY, and for everybody where the service is open: may name other organisations. */
  root: boolean;
}

export interface RequestWithPrincipal {
  principal?: Principal;
}

export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const principal = context.switchToHttp().getRequest<RequestWithPrincipal>().principal;
  if (!principal) throw new Error('a route that needs a principal was reached without one');
  return principal;
});
