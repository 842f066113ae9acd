import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/**
 * Takes jobs away for good, joining the running transaction. One that a worker holds stays until its attempt ends: whoever
 * erases what it works on sees to it that it finds nothing.
 */
@Injectable()
export class JobErasure {
  constructor(private readonly database: Database) {}

  ofAgent(orgId: string, agentId: string): Promise<number> {
    return this.remove(`flags ?& array[$1::text, $2]`, [`org_id:${orgId}`, `agent_id:${agentId}`]);
  }

  ofTurns(orgId: string, turnIds: readonly string[]): Promise<number> {
    return this.remove(`flags ? $1 and flags ?| $2::text[]`, [`org_id:${orgId}`, turnIds.map((id) => `turn_id:${id}`)]);
  }

  /** Dead ones whose last error matches a Postgres regular expression: it is all that a job says in words. */
  withError(orgId: string, pattern: string): Promise<number> {
    return this.remove(`flags ? $1 and attempts >= max_attempts and last_error ~ $2`, [`org_id:${orgId}`, pattern]);
  }

  private async remove(condition: string, parameters: readonly unknown[]): Promise<number> {
    const rows = await this.database.query(
      `select id from graphile_worker.complete_jobs(
         array(select id from graphile_worker.jobs where locked_at is null and ${condition}))`,
      parameters,
    );
    return rows.length;
  }
}
