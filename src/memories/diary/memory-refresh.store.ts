import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

export interface StoredRefresh {
  output: string;
  data: Record<string, unknown>;
}

/** One answer of refresh_memory: the hint, and the turn in which it was given. */
export interface RefreshRef {
  orgId: string;
  agentId: string;
  turnId: string;
  hint: string;
}

/** A reserved place; its end tells it from the one that takes it over once it has lapsed. */
export interface Reservation {
  leaseUntil: Date;
}

export type Claim =
  | { status: 'stored'; refresh: StoredRefresh }
  | { status: 'reserved'; reservation: Reservation }
  /** The same hint is being answered. */
  | { status: 'under_way' }
  | { status: 'cap_reached' };

interface RefreshRow {
  output: string | null;
  data: Record<string, unknown> | null;
  lease_until: Date | null;
}

const KEY = `org_id = $1 and agent_id = $2 and turn_id = $3 and hint_hash = $4`;

/**
 * What refresh_memory has answered in each turn: the cache, and the count that the cap is about. A place is reserved
 * before the model is asked, so that the cap bounds calls and equal hints share one.
 */
@Injectable()
export class MemoryRefreshStore {
  constructor(private readonly database: Database) {}

  /** The answer to an equal hint of the turn; null where there is none yet. */
  async find(ref: RefreshRef): Promise<StoredRefresh | null> {
    const row = await this.row(ref);
    return row && storedOf(row);
  }

  /** Reserves one of the turn's `cap` places for `leaseMs`, unless the hint has its answer or is being answered. */
  async claim(ref: RefreshRef, { cap, leaseMs }: { cap: number; leaseMs: number }): Promise<Claim> {
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
        `memory_refreshes ${ref.orgId} ${ref.agentId} ${ref.turnId}`,
      ]);
      const now = new Date();
      const known = await this.row(ref);
      const refresh = known && storedOf(known);
      if (refresh) return { status: 'stored', refresh };
      if (known?.lease_until && known.lease_until > now) return { status: 'under_way' };
      if ((await this.taken(ref, now)) >= cap) return { status: 'cap_reached' };
      const leaseUntil = new Date(now.getTime() + leaseMs);
      await this.database.query(
        `insert into memory_refreshes (org_id, agent_id, turn_id, hint_hash, lease_until, created_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (org_id, agent_id, turn_id, hint_hash) do update set lease_until = excluded.lease_until`,
        [...keyOf(ref), leaseUntil, now],
      );
      return { status: 'reserved', reservation: { leaseUntil } };
    });
  }

  /** Stores the answer in the reserved place, joining the running transaction; null where the place is no longer ours. */
  async complete(ref: RefreshRef, { leaseUntil }: Reservation, refresh: StoredRefresh): Promise<StoredRefresh | null> {
    const [row] = await this.database.query<RefreshRow>(
      `update memory_refreshes set output = $5, data = $6::jsonb, lease_until = null
       where ${KEY} and lease_until = $7 returning output, data, lease_until`,
      [...keyOf(ref), refresh.output, JSON.stringify(refresh.data), leaseUntil],
    );
    return row ? storedOf(row) : null;
  }

  /** Gives a reserved place back; an answer in it stays. */
  async release(ref: RefreshRef, { leaseUntil }: Reservation): Promise<void> {
    await this.database.query(`delete from memory_refreshes where ${KEY} and lease_until = $5`, [
      ...keyOf(ref),
      leaseUntil,
    ]);
  }

  /** Forgets what was answered before `before`. Answers how many. */
  async sweep(before: Date): Promise<number> {
    const rows = await this.database.query(`delete from memory_refreshes where created_at < $1 returning turn_id`, [
      before,
    ]);
    return rows.length;
  }

  private async row(ref: RefreshRef): Promise<RefreshRow | null> {
    const [row] = await this.database.query<RefreshRow>(
      `select output, data, lease_until from memory_refreshes where ${KEY}`,
      keyOf(ref),
    );
    return row ?? null;
  }

  private async taken({ orgId, agentId, turnId }: RefreshRef, now: Date): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from memory_refreshes
       where org_id = $1 and agent_id = $2 and turn_id = $3 and (lease_until is null or lease_until > $4)`,
      [orgId, agentId, turnId, now],
    );
    return row!.count;
  }
}

function storedOf({ output, data }: RefreshRow): StoredRefresh | null {
  return output === null ? null : { output, data: data ?? {} };
}

/** Two hints are the same where they differ in case and space alone. */
function keyOf({ orgId, agentId, turnId, hint }: RefreshRef): string[] {
  const folded = hint.toLowerCase().replace(/\s+/gu, ' ').trim();
  return [orgId, agentId, turnId, createHash('sha256').update(folded).digest('hex')];
}
