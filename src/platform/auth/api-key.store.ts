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
}

interface ApiKeyRow {
  id: string;
  org_id: string;
  name: string;
  scopes: ScopeName[];
  created_at: Date;
  expires_at: Date | null;
}

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
  async find(key: string): Promise<{ id: string; orgId: string; scopes: ScopeName[] } | null> {
    const [row] = await this.database.query<ApiKeyRow>(
      `select * from api_keys where key_hash = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
      [hashKey(key), new Date()],
    );
    return row ? { id: row.id, orgId: row.org_id, scopes: row.scopes } : null;
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
  };
}
