import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

export interface StoredRefresh {
  output: string;
  data: Record<string, unknown>;
}

interface TurnRef {
  orgId: string;
  agentId: string;
  turnId: string;
}

/** What refresh_memory has answered in each turn: the cache, and the count that the cap is about. */
@Injectable()
export class MemoryRefreshStore {
  constructor(private readonly database: Database) {}

  async find(turn: TurnRef, hint: string): Promise<StoredRefresh | null> {
    const [row] = await this.database.query<StoredRefresh>(
      `select output, data from memory_refreshes
       where org_id = $1 and agent_id = $2 and turn_id = $3 and hint_hash = $4`,
      [turn.orgId, turn.agentId, turn.turnId, hashOf(hint)],
    );
    return row ?? null;
  }

  async count(turn: TurnRef): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from memory_refreshes where org_id = $1 and agent_id = $2 and turn_id = $3`,
      [turn.orgId, turn.agentId, turn.turnId],
    );
    return row!.count;
  }

  /** Joins the running transaction. `cap_reached` where other hints took the last place meanwhile. */
  async store(
    turn: TurnRef,
    hint: string,
    refresh: StoredRefresh & { cap: number },
  ): Promise<'stored' | 'already_stored' | 'cap_reached'> {
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
        `memory_refreshes ${turn.orgId} ${turn.agentId} ${turn.turnId}`,
      ]);
      if (await this.find(turn, hint)) return 'already_stored';
      if ((await this.count(turn)) >= refresh.cap) return 'cap_reached';
      await this.database.query(
        `insert into memory_refreshes (org_id, agent_id, turn_id, hint_hash, output, data, created_at)
         values ($1, $2, $3, $4, $5, $6::jsonb, $7)`,
        [turn.orgId, turn.agentId, turn.turnId, hashOf(hint), refresh.output, JSON.stringify(refresh.data), new Date()],
      );
      return 'stored';
    });
  }

  /** Forgets what was answered before `before`. Answers how many. */
  async sweep(before: Date): Promise<number> {
    const rows = await this.database.query(`delete from memory_refreshes where created_at < $1 returning turn_id`, [
      before,
    ]);
    return rows.length;
  }
}

/** Two hints are the same where they differ in case and space alone. */
function hashOf(hint: string): string {
  return createHash('sha256').update(hint.toLowerCase().replace(/\s+/gu, ' ').trim()).digest('hex');
}
