import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isLoopback } from '../config/environment.js';
import { Settings } from '../config/settings.js';
import { ApiError } from '../http/api-error.js';
import { ADMIN_KEY_ID, ApiKeyStore, hashKey } from './api-key.store.js';
import { ApiKeyUses } from './api-key-uses.js';
import { organizationId } from './name-based-ids.js';
import { scopes, type Principal } from './principal.js';

/** The headers that tell who sent a request. */
export interface SenderHeaders {
  authorization?: string | undefined;
  host?: string | undefined;
  origin?: string | undefined;
}

/** Settles who sent a request. */
@Injectable()
export class Authenticator {
  private readonly adminHash: string | null;
  private readonly homeOrgId: string;

  constructor(
    private readonly keys: ApiKeyStore,
    private readonly uses: ApiKeyUses,
    settings: Settings,
  ) {
    const admin = settings.environment.admin_api_key;
    this.adminHash = admin === undefined ? null : hashKey(admin);
    this.homeOrgId = organizationId(homeOrganizationName(settings));
  }

  /**
   * Throws 401 for a missing or wrong key. Without ADMIN_API_KEY a request without a key may do everything, unless a page
   * of another site made a browser send it (403 `auth.foreign_host`).
   */
  async authenticate({ authorization, host, origin }: SenderHeaders): Promise<Principal> {
    if (authorization === undefined && this.adminHash === null) {
      refuseOtherSites(host, origin);
      return { orgId: this.homeOrgId, scopes, keyId: null, keyName: null, root: true };
    }
    const key = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (key === undefined) {
      throw new ApiError(401, 'auth.required', 'An API key is required: Authorization: Bearer <key>.');
    }
    if (this.adminHash !== null && equal(hashKey(key), this.adminHash)) {
      return { orgId: this.homeOrgId, scopes, keyId: ADMIN_KEY_ID, keyName: 'ADMIN_API_KEY', root: true };
    }
    const found = await this.keys.find(key);
    if (!found) throw new ApiError(401, 'auth.invalid_key', 'This API key is unknown, expired or revoked.');
    this.uses.note(found.id, found.lastUsedAt);
    return { orgId: found.orgId, scopes: found.scopes, keyId: found.id, keyName: found.name, root: false };
  }
}

/** The organisation of learning.yaml, else `default`. */
export function homeOrganizationName(settings: Settings): string {
  const block = settings.organization as { name?: unknown } | null | undefined;
  return typeof block?.name === 'string' && block.name !== '' ? block.name : 'default';
}

/**
 * A browser carries what pages of other sites ask of this machine: openly, with their Origin, or under a name of theirs
 * that they made lead here (DNS rebinding).
 */
function refuseOtherSites(host: string | undefined, origin: string | undefined): void {
  const fromHere = origin === undefined || (URL.canParse(origin) && isLoopbackName(new URL(origin).host));
  if (fromHere && (host === undefined || isLoopbackName(host))) return;
  throw new ApiError(
    403,
    'auth.foreign_host',
    'Without ADMIN_API_KEY the service answers requests to and from this machine only: localhost or a loopback address.',
  );
}

/** @param host with or without a port */
function isLoopbackName(host: string): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::\d*)?$/i.exec(host);
  return name !== null && isLoopback(name[1] ?? name[2]!);
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
