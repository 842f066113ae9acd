import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** What was read before an erasure must not be written after it. Whoever meets it begins anew. */
export class ErasedMeanwhile extends Error {
  constructor() {
    super('something was erased while this was worked out; it has to begin anew');
  }
}

/**
 * Keeps writers and erasures of one organisation apart. Every insert and every change of text takes the gate shared, by a
 * trigger of its table; an erasure takes it alone. So an erasure sees all that was accepted before it, and what comes after finds
 * the rows as it left them. Whoever writes what it made of rows that it read in an earlier transaction asks here as well.
 */
@Injectable()
export class ErasureGate {
  constructor(private readonly database: Database) {}

  /** The last erasure of the organisation, to be compared later. */
  async latest(orgId: string): Promise<string> {
    const [row] = await this.database.query<{ latest: string }>(
      `select coalesce(max(position), 0)::text as latest from erasures where org_id = $1`,
      [orgId],
    );
    return row!.latest;
  }

  /** First thing in a transaction that goes on to hold rows: whoever waits at the gate must not hold what an erasure wants. */
  async enter(orgId: string): Promise<void> {
    await this.database.query(`select enter_erasure_gate($1)`, [orgId]);
  }

  /** Runs `work` in a transaction that has entered. */
  transaction<Result>(orgId: string, work: () => Promise<Result>): Promise<Result> {
    return this.database.transaction(async () => {
      await this.enter(orgId);
      return work();
    });
  }

  /** As `transaction`. Throws `ErasedMeanwhile` where something was erased after `latest` had been read. */
  transactionSince<Result>(orgId: string, latest: string, work: () => Promise<Result>): Promise<Result> {
    return this.transaction(orgId, async () => {
      if ((await this.latest(orgId)) !== latest) throw new ErasedMeanwhile();
      return work();
    });
  }

  /** Waits for all writers of the organisation and keeps new ones waiting until the running transaction ends. */
  async close(orgId: string, agentId: string | null): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('erasure ' || $1::text, 0))`, [orgId]);
    await this.database.query(
      `insert into erasures (id, position, org_id, agent_id, at)
       values ($1, nextval('erasure_positions'), $2, $3, $4)`,
      [randomUUID(), orgId, agentId, new Date()],
    );
  }
}
