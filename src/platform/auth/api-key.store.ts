import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { keysetList } from '../http/keyset-list.js';
import type { Page, PageRequest } from '../http/page.js';
import type { ScopeName } from './principal.js';

export interface ApiKeyView {
  id: string;
  name: string;
  scopes: ScopeName[];
  created_at: string;
  expires_at: string | null;
  /** To the minute; null where it was never used. */
  last_used_at: string | null;
}

/** What stands for ADMIN_API_KEY, which is no row. */
export const ADMIN_KEY_ID = 'admin';

/** A key that holds, and whose it is. */
export interface FoundKey {
  id: string;
  orgId: string;
  name: string;
  scopes: ScopeName[];
  lastUsedAt: Date | null;
}

interface ApiKeyRow {
  id: string;
  org_id: string;
  name: string;
  scopes: ScopeName[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

const HOLDS = `revoked_at is null and (expires_at is null or expires_at > $2)`;

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** API keys by their sha-256; the key itself is shown once, when it is made, and never stored. */
@Injectable()
export class ApiKeyStore {
  constructor(private readonly database: Database) {}

  async create(key: {
    orgId: string;
    name: string;
    scopes: ScopeName[];
    expiresAt: Date | null;
  }): Promise<ApiKeyView & { key: string }> {
    const secret = `al_${randomBytes(32).toString('base64url')}`;
    const [row] = await this.database.query<ApiKeyRow>(
      `insert into api_keys (id, org_id, name, key_hash, scopes, created_at, expires_at)
       values ($1, $2, $3, $4, $5::jsonb, $6, $7) returning *`,
      [randomUUID(), key.orgId, key.name, hashKey(secret), JSON.stringify(key.scopes), new Date(), key.expiresAt],
    );
    return { ...view(row!), key: secret };
  }

  /** The key's owner, unless it is unknown, revoked or expired. */
  async find(key: string): Promise<FoundKey | null> {
    const [row] = await this.database.query<ApiKeyRow>(`select * from api_keys where key_hash = $1 and ${HOLDS}`, [
      hashKey(key),
      new Date(),
    ]);
    if (!row) return null;
    return { id: row.id, orgId: row.org_id, name: row.name, scopes: row.scopes, lastUsedAt: row.last_used_at };
  }

  /** Whether what a key was allowed to do still is: for what goes on long after it was shown. @param id a `Principal.keyId` */
  async holds(id: string | null): Promise<boolean> {
    if (id === null || id === ADMIN_KEY_ID) return true;
    const rows = await this.database.query(`select id from api_keys where id = $1 and ${HOLDS}`, [id, new Date()]);
    return rows.length > 0;
  }

  /** Leaves a later time alone. */
  async markUsed(id: string, at: Date): Promise<void> {
    await this.database.query(
      `update api_keys set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)`,
      [id, at],
    );
  }

  /** Newest first, without the revoked ones. */
  list(orgId: string, request: PageRequest): Promise<Page<ApiKeyView>> {
    return keysetList<ApiKeyRow, ApiKeyView>(this.database, {
      columns: '*',
      from: 'api_keys',
      filter: 'org_id = $1 and revoked_at is null',
      parameters: [orgId],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view,
    });
  }

  async revoke(orgId: string, id: string): Promise<boolean> {
    const rows = await this.database.query(
      `update api_keys set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id`,
      [orgId, id, new Date()],
    );
    return rows.length > 0;
  }
}

function view(row: ApiKeyRow): ApiKeyView {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
