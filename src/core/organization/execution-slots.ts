import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Agents } from './agents.js';

export interface ExecutionSlot {
  slot_id: string;
  expires_at: string;
}

/** How long a slot lives without being renewed, in seconds. */
export const SLOT_SECONDS = 120;
/** A reflection that has waited this long, in seconds, keeps one slot of its role from live turns. */
const RESERVE_AFTER_SECONDS = 60;

/** A reflection that waits asks again every half minute at most; one that no longer asks, in seconds, is gone. */
const FORGET_AFTER_SECONDS = 180;

/**
 * The ConcurrencyController of the mission: live turns and reflections of a role share its `max_concurrent` slots,
 * and all roles of an organisation share `concurrency.max_total`. Slots are rows, so they hold across replicas and end by
 * themselves when their holder dies.
 */
@Injectable()
export class ExecutionSlots {
  constructor(
    private readonly database: Database,
    private readonly agents: Agents,
    private readonly settings: Settings,
  ) {}

  /**
   * A slot for a live turn, or null where none is free. A role that is not known yet may come with its first turn; 404
   * where it may not.
   */
  async acquireForTurn(orgId: string, role: string): Promise<ExecutionSlot | null> {
    const known = (await this.agents.role(orgId, role)) !== null || (await this.agents.mayRegister(orgId));
    if (!known) throw new ApiError(404, 'role.not_found', 'There is no such role.');
    return this.acquire({ orgId, role, holder: 'turn', turnId: null });
  }

  /**
   * A slot for the reflection of a turn; one that got none is remembered, and told since when it has waited. The slot
   * that the turn's last try may have left behind, as its process was killed, is given up first. Learning that belongs to
   * no single turn waits under the id of its agent.
   */
  async acquireForReflection(
    orgId: string,
    role: string,
    turnId: string,
  ): Promise<ExecutionSlot | { waitingSince: Date }> {
    return this.database.transaction(async () => {
      const slot = await this.acquire({ orgId, role, holder: 'reflection', turnId });
      if (slot) {
        await this.stopWaiting(orgId, turnId);
        return slot;
      }
      const [wait] = await this.database.query<{ since: Date }>(
        `insert into execution_slot_waits (org_id, turn_id, role, since, asked_at) values ($1, $2, $3, $4, $4)
         on conflict (org_id, turn_id) do update set role = excluded.role, asked_at = excluded.asked_at
         returning since`,
        [orgId, turnId, role, new Date()],
      );
      return { waitingSince: wait!.since };
    });
  }

  async stopWaiting(orgId: string, turnId: string): Promise<void> {
    await this.database.query(`delete from execution_slot_waits where org_id = $1 and turn_id = $2`, [orgId, turnId]);
  }

  /** The slot with a new end, or null if it has ended. */
  async renew(orgId: string, slotId: string): Promise<ExecutionSlot | null> {
    const now = new Date();
    const [row] = await this.database.query<{ id: string; expires_at: Date }>(
      `update execution_slots set expires_at = $3 where org_id = $1 and id = $2 and expires_at > $4
       returning id, expires_at`,
      [orgId, slotId, new Date(now.getTime() + SLOT_SECONDS * 1000), now],
    );
    return row ? { slot_id: row.id, expires_at: row.expires_at.toISOString() } : null;
  }

  async release(orgId: string, slotId: string): Promise<void> {
    await this.database.query(`delete from execution_slots where org_id = $1 and id = $2`, [orgId, slotId]);
  }

  private async acquire(wanted: {
    orgId: string;
    role: string;
    holder: 'turn' | 'reflection';
    turnId: string | null;
  }): Promise<ExecutionSlot | null> {
    const { orgId, role, holder, turnId } = wanted;
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`execution_slots ${orgId}`]);
      const now = new Date();
      await this.database.query(
        `delete from execution_slots where org_id = $1 and (expires_at <= $2 or turn_id = $3)`,
        [orgId, now, turnId],
      );
      await this.database.query(`delete from execution_slot_waits where org_id = $1 and asked_at <= $2`, [
        orgId,
        new Date(now.getTime() - FORGET_AFTER_SECONDS * 1000),
      ]);
      const [used] = await this.database.query<{ all: number; role: number; kept_all: number; kept_role: number }>(
        `select count(*)::int as "all", count(*) filter (where role = $2)::int as role,
           (select count(*) from execution_slot_waits where org_id = $1 and since <= $3)::int as kept_all,
           (select count(*) from execution_slot_waits where org_id = $1 and since <= $3 and role = $2)::int as kept_role
         from execution_slots where org_id = $1`,
        [orgId, role, new Date(now.getTime() - RESERVE_AFTER_SECONDS * 1000)],
      );
      const kept =
        holder === 'turn'
          ? { all: Math.min(1, used!.kept_all), role: Math.min(1, used!.kept_role) }
          : { all: 0, role: 0 };
      const limit = (await this.agents.role(orgId, role))?.maxConcurrent ?? Infinity;
      if (used!.role + kept.role >= limit || used!.all + kept.all >= this.settings.concurrency.max_total) return null;
      const slot = { slot_id: randomUUID(), expires_at: new Date(now.getTime() + SLOT_SECONDS * 1000) };
      await this.database.query(
        `insert into execution_slots (id, org_id, role, holder, turn_id, expires_at) values ($1, $2, $3, $4, $5, $6)`,
        [slot.slot_id, orgId, role, holder, turnId, slot.expires_at],
      );
      return { slot_id: slot.slot_id, expires_at: slot.expires_at.toISOString() };
    });
  }
}
