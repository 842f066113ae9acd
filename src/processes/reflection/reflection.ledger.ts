import { Injectable } from '@nestjs/common';
import type { WorkerEnd } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';

export type WorkerStatus = 'pending' | WorkerEnd;

export interface WorkerView {
  worker: string;
  part: string;
  status: WorkerStatus;
  reason: string | null;
  attempts: number;
  error: string | null;
}

export interface LedgerEntry {
  status: WorkerStatus;
  reason: string | null;
  attempts: number;
  error: string | null;
}

export interface LedgerKey {
  orgId: string;
  turnId: string;
  worker: string;
  part: string;
}

/** What each worker has done about each turn, one row a (turn, worker, part): the idempotency of reflection. */
@Injectable()
export class ReflectionLedger {
  constructor(private readonly database: Database) {}

  async workers(orgId: string, turnId: string): Promise<WorkerView[]> {
    return this.database.query<WorkerView>(
      `select worker, part, status, reason, attempts, error from reflection_runs
       where org_id = $1 and turn_id = $2 order by updated_at, worker, part`,
      [orgId, turnId],
    );
  }

  /** `settled`, once true, stays true. */
  async write(key: LedgerKey, entry: LedgerEntry & { settled: boolean }): Promise<void> {
    await this.database.query(
      `insert into reflection_runs as run (org_id, turn_id, worker, part, status, reason, attempts, error, settled,
         updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (org_id, turn_id, worker, part) do update set status = excluded.status, reason = excluded.reason,
         attempts = excluded.attempts, error = excluded.error, settled = run.settled or excluded.settled,
         updated_at = excluded.updated_at`,
      [
        key.orgId,
        key.turnId,
        key.worker,
        key.part,
        entry.status,
        entry.reason,
        entry.attempts,
        entry.error,
        entry.settled,
        new Date(),
      ],
    );
  }

  /** Whether the part has a row that ended, and whether it has been settled. */
  async stateOf(key: LedgerKey): Promise<{ ended: boolean; settled: boolean }> {
    const [row] = await this.database.query<{ ended: boolean; settled: boolean }>(
      `select status <> 'pending' as ended, settled from reflection_runs
       where org_id = $1 and turn_id = $2 and worker = $3 and part = $4`,
      [key.orgId, key.turnId, key.worker, key.part],
    );
    return row ?? { ended: false, settled: false };
  }

  async remove(key: LedgerKey): Promise<void> {
    await this.database.query(
      `delete from reflection_runs where org_id = $1 and turn_id = $2 and worker = $3 and part = $4`,
      [key.orgId, key.turnId, key.worker, key.part],
    );
  }

  /** For a turn whose body is superseded: what ended with an effect stays, the rest is asked again. */
  async forgetUnfinished(orgId: string, turnId: string): Promise<void> {
    await this.database.query(
      `delete from reflection_runs where org_id = $1 and turn_id = $2 and status in ('pending', 'skipped', 'dead')`,
      [orgId, turnId],
    );
  }

  /** For an operator's retry: the dead are asked again, with all their attempts. */
  async reviveDead(orgId: string, turnId: string): Promise<void> {
    await this.database.query(
      `update reflection_runs set status = 'pending', reason = null, attempts = 0, error = null, updated_at = $3
       where org_id = $1 and turn_id = $2 and status = 'dead'`,
      [orgId, turnId, new Date()],
    );
  }

  /** For a turn that a gate ends after workers have begun. */
  async skipPending(orgId: string, turnId: string, reason: string): Promise<void> {
    await this.database.query(
      `update reflection_runs set status = 'skipped', reason = $3, updated_at = $4
       where org_id = $1 and turn_id = $2 and status = 'pending'`,
      [orgId, turnId, reason, new Date()],
    );
  }
}
