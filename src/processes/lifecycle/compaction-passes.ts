import { Injectable } from '@nestjs/common';
import type { EpisodePosition } from '../../memories/episodes/raw-episodes.js';
import { Database } from '../../platform/database/database.js';

/** Whose episodes: one agent has one pass at a time. */
export interface PassKey {
  orgId: string;
  agentId: string;
}

/** What a pass has done, in the words of its event. */
export interface PassCounts {
  non_terminal_dropped: number;
  consolidated_dropped: number;
  clusters_compacted: number;
  raw_replaced_by_compaction: number;
  compacted_evicted: number;
}

export interface CompactionPass {
  /** Behind which the walk over old episodes goes on; null: it begins. */
  cursor: EpisodePosition | null;
  /** Whether what stands before the cursor is still to be looked at: an earlier pass ended there. */
  wraps: boolean;
  /** Attempts that the model failed. */
  failures: number;
  /** Not to be tried again before. */
  retryAt: Date | null;
}

interface PassRow extends PassCounts {
  cursor_ended_at: Date | null;
  cursor_id: string | null;
  wraps: boolean;
  failures: number;
  retry_at: Date | null;
}

const COUNTS = [
  'non_terminal_dropped',
  'consolidated_dropped',
  'clusters_compacted',
  'raw_replaced_by_compaction',
  'compacted_evicted',
] as const satisfies readonly (keyof PassCounts)[];

const KEY = `org_id = $1 and agent_id = $2`;

/**
 * How far the lifecycle pass over an agent's episodes has come. A row: so a pass that was killed goes on behind what it
 * has seen, its counts are those of what was written, and writes that enqueue the job anew win it no further attempts.
 */
@Injectable()
export class CompactionPasses {
  constructor(private readonly database: Database) {}

  /** The pass under way, else a new one. */
  async open({ orgId, agentId }: PassKey): Promise<CompactionPass> {
    await this.database.query(
      `insert into compaction_passes (org_id, agent_id, wraps, failures, ${COUNTS.join(', ')})
       values ($1, $2, false, 0, ${COUNTS.map(() => '0').join(', ')}) on conflict do nothing`,
      [orgId, agentId],
    );
    const [row] = await this.database.query<PassRow>(`select * from compaction_passes where ${KEY}`, [orgId, agentId]);
    return {
      cursor: row!.cursor_id === null ? null : { endedAt: row!.cursor_ended_at!, id: row!.cursor_id },
      wraps: row!.wraps,
      failures: row!.failures,
      retryAt: row!.retry_at,
    };
  }

  /** Adds to the counts; in the transaction of what they count. */
  async count({ orgId, agentId }: PassKey, done: Partial<PassCounts>): Promise<void> {
    await this.database.query(
      `update compaction_passes set ${COUNTS.map((name, index) => `${name} = ${name} + $${index + 3}`).join(', ')}
       where ${KEY}`,
      [orgId, agentId, ...COUNTS.map((name) => done[name] ?? 0)],
    );
  }

  async moveTo({ orgId, agentId }: PassKey, cursor: EpisodePosition): Promise<void> {
    await this.database.query(`update compaction_passes set cursor_ended_at = $3, cursor_id = $4 where ${KEY}`, [
      orgId,
      agentId,
      cursor.endedAt,
      cursor.id,
    ]);
  }

  /** Goes on with the oldest. */
  async wrap({ orgId, agentId }: PassKey): Promise<void> {
    await this.database.query(
      `update compaction_passes set wraps = false, cursor_ended_at = null, cursor_id = null where ${KEY}`,
      [orgId, agentId],
    );
  }

  async putOff({ orgId, agentId }: PassKey, failures: number, retryAt: Date): Promise<void> {
    await this.database.query(`update compaction_passes set failures = $3, retry_at = $4 where ${KEY}`, [
      orgId,
      agentId,
      failures,
      retryAt,
    ]);
  }

  /**
   * Ends the pass and answers with its counts. With `behind` the next one begins there and wraps: what the model failed
   * at must not stand before the rest each time.
   */
  async close({ orgId, agentId }: PassKey, behind: EpisodePosition | null): Promise<PassCounts> {
    return this.database.transaction(async () => {
      const [row] = await this.database.query<PassCounts>(
        `delete from compaction_passes where ${KEY} returning ${COUNTS.join(', ')}`,
        [orgId, agentId],
      );
      if (behind) {
        await this.open({ orgId, agentId });
        await this.database.query(
          `update compaction_passes set cursor_ended_at = $3, cursor_id = $4, wraps = true where ${KEY}`,
          [orgId, agentId, behind.endedAt, behind.id],
        );
      }
      return Object.fromEntries(COUNTS.map((name) => [name, row?.[name] ?? 0])) as unknown as PassCounts;
    });
  }

  /** Has the pass begin with the oldest episodes, at once and with all its attempts. */
  async restart({ orgId, agentId }: PassKey): Promise<void> {
    await this.database.query(
      `update compaction_passes set failures = 0, retry_at = null, wraps = false, cursor_ended_at = null,
         cursor_id = null where ${KEY}`,
      [orgId, agentId],
    );
  }

  async forget({ orgId, agentId }: PassKey): Promise<void> {
    await this.database.query(`delete from compaction_passes where ${KEY}`, [orgId, agentId]);
  }
}
