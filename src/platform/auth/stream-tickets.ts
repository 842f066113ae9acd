import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { ApiError } from '../http/api-error.js';
import { Sweeps } from '../jobs/sweep.job.js';
import { ApiKeyStore, hashKey } from './api-key.store.js';
import type { Principal } from './principal.js';

export interface StreamTicket {
  ticket: string;
  expires_at: string;
}

interface TicketRow {
  org_id: string;
  key_id: string | null;
  key_name: string | null;
}

const TICKET_MS = 60_000;
const STREAM_PATH = '/events/stream';

/** The part of a request that a ticket may come with. */
export interface TicketRequest {
  method: string;
  url: string;
  query: unknown;
  headers: { authorization?: string | undefined };
}

/**
 * Tickets for the event stream. A ticket stands in an address, and addresses end up in logs and histories, so it opens one
 * stream once, within a minute, on whichever replica; a page that was cut off asks for another and goes on with `last_event_id`.
 */
@Injectable()
export class StreamTickets implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeyStore,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({ name: 'tickets that nobody used', run: (now) => this.sweep(now) });
  }

  async issue({ orgId, keyId, keyName }: Principal): Promise<StreamTicket> {
    const ticket = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + TICKET_MS);
    await this.database.query(
      `insert into stream_tickets (ticket_hash, org_id, key_id, key_name, expires_at) values ($1, $2, $3, $4, $5)`,
      [hashKey(ticket), orgId, keyId, keyName, expiresAt],
    );
    return { ticket, expires_at: expiresAt.toISOString() };
  }

  /** Who opens a stream with a ticket; null for a request that brings none, or a key beside it. Throws 401 for a ticket that does not hold. */
  async principalOf({ method, url, query, headers }: TicketRequest): Promise<Principal | null> {
    const { ticket } = (query ?? {}) as { ticket?: unknown };
    if (method !== 'GET' || url.split('?', 1)[0] !== STREAM_PATH) return null;
    if (ticket === undefined || headers.authorization !== undefined) return null;
    const row = typeof ticket === 'string' ? await this.redeem(ticket) : null;
    if (!row || !(await this.keys.holds(row.key_id))) {
      throw new ApiError(401, 'auth.invalid_ticket', 'This ticket is unknown, used or expired; ask for another.');
    }
    return { orgId: row.org_id, scopes: ['read'], keyId: row.key_id, keyName: row.key_name, root: false };
  }

  private async redeem(ticket: string): Promise<TicketRow | null> {
    const [row] = await this.database.query<TicketRow>(
      `delete from stream_tickets where ticket_hash = $1 and expires_at > $2 returning org_id, key_id, key_name`,
      [hashKey(ticket), new Date()],
    );
    return row ?? null;
  }

  private async sweep(now: Date): Promise<number> {
    const rows = await this.database.query(`delete from stream_tickets where expires_at <= $1 returning ticket_hash`, [
      now,
    ]);
    return rows.length;
  }
}
