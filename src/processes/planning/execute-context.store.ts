import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

export interface IterationRef {
  orgId: string;
  agentId: string;
  turnId: string;
  iteration: number;
}

/** The bytes that each iteration of a turn was answered. */
@Injectable()
export class ExecuteContextStore {
  constructor(private readonly database: Database) {}

  async find(ref: IterationRef): Promise<string | null> {
    const [row] = await this.database.query<{ rendered: string }>(
      `select rendered from execute_contexts where org_id = $1 and agent_id = $2 and turn_id = $3 and iteration = $4`,
      keyOf(ref),
    );
    return row?.rendered ?? null;
  }

  /** Stores the bytes of an iteration once; false where others were first. */
  async freeze(ref: IterationRef, rendered: string): Promise<boolean> {
    const rows = await this.database.query(
      `insert into execute_contexts (org_id, agent_id, turn_id, iteration, rendered, created_at)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning iteration`,
      [...keyOf(ref), rendered, new Date()],
    );
    return rows.length > 0;
  }

  /** Forgets what was answered before `before`. Answers how many. */
  async sweep(before: Date): Promise<number> {
    const rows = await this.database.query(`delete from execute_contexts where created_at < $1 returning iteration`, [
      before,
    ]);
    return rows.length;
  }
}

function keyOf({ orgId, agentId, turnId, iteration }: IterationRef): unknown[] {
  return [orgId, agentId, turnId, iteration];
}
