import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { contentHash } from '../turn/content-hash.js';
import type { HeldWrite } from '../turn/extension-points.js';
import { QuarantinedWrites } from './quarantined-writes.js';

export interface WriteToHold extends HeldWrite {
  /** Of the room that carries it out once it is released. */
  kind: string;
  /** Of the verdict: `injection`, `invisible_unicode` or `secret`. */
  reason: string;
  /** What the operator has to judge. */
  content: string;
  /** What makes two writes of the kind the same for one who judges them. @default payload */
  sameness?: unknown;
}

export interface QuarantineView {
  id: string;
  kind: string;
  /** Handle. */
  agent: string | null;
  reason: string;
  content: string;
  turn_id: string | null;
  created_at: string;
}

interface QuarantineRow extends Omit<QuarantineView, 'created_at'> {
  created_at: Date;
}

interface HeldRow {
  kind: string;
  agent_id: string;
  turn_id: string | null;
  payload: unknown;
}

const COLUMNS = `quarantine.id, quarantine.kind, agents.handle as agent, quarantine.reason, quarantine.content,
  quarantine.turn_id, quarantine.created_at`;
const FROM = `quarantine left join agents on agents.org_id = quarantine.org_id and agents.id = quarantine.agent_id`;

/** Writes that screening held back. No prompt is ever made of them; an operator releases or discards them. */
@Injectable()
export class QuarantineStore {
  constructor(
    private readonly database: Database,
    private readonly writes: QuarantinedWrites,
  ) {}

  /**
   * Holds a write and answers with its id; joins the running transaction. One that waits already keeps its id and its
   * age, and is carried out as it was written last.
   */
  async hold(write: WriteToHold): Promise<string> {
    const [row] = await this.database.query<{ id: string }>(
      `insert into quarantine (id, org_id, agent_id, kind, reason, content, payload, content_hash, turn_id, created_at)
       values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10)
       on conflict (org_id, agent_id, kind, content_hash) do update
         set reason = excluded.reason, content = excluded.content, payload = excluded.payload, turn_id = excluded.turn_id
       returning id`,
      [
        randomUUID(),
        write.orgId,
        write.agentId,
        write.kind,
        write.reason,
        write.content,
        JSON.stringify(write.payload),
        contentHash(write.sameness ?? write.payload),
        write.turnId,
        new Date(),
      ],
    );
    return row!.id;
  }

  /** Newest first. */
  list(orgId: string, request: PageRequest & { agentId?: string }): Promise<Page<QuarantineView>> {
    return keysetList<QuarantineRow, QuarantineView>(this.database, {
      columns: COLUMNS,
      from: FROM,
      filter: 'quarantine.org_id = $1 and ($2::uuid is null or quarantine.agent_id = $2)',
      parameters: [orgId, request.agentId ?? null],
      time: 'quarantine.created_at',
      id: 'quarantine.id',
      request,
      position: (row) => [row.created_at, row.id],
      view: viewOf,
    });
  }

  async get(orgId: string, id: string): Promise<QuarantineView | null> {
    const [row] = await this.database.query<QuarantineRow>(
      `select ${COLUMNS} from ${FROM} where quarantine.org_id = $1 and quarantine.id = $2`,
      [orgId, id],
    );
    return row ? viewOf(row) : null;
  }

  /**
   * Carries the write out and lets it go, both or neither; false where there is none. Two releases at once wait for
   * each other at the row, and the second finds it gone.
   */
  release(orgId: string, id: string): Promise<boolean> {
    return this.database.transaction(async () => {
      const [row] = await this.database.query<HeldRow>(
        `delete from quarantine where org_id = $1 and id = $2 returning kind, agent_id, turn_id, payload`,
        [orgId, id],
      );
      if (!row) return false;
      const held = { orgId, agentId: row.agent_id, turnId: row.turn_id, payload: row.payload };
      await this.writes.apply(row.kind, held);
      return true;
    });
  }

  /** Drops the write for good; false where there is none. */
  async discard(orgId: string, id: string): Promise<boolean> {
    const rows = await this.database.query(`delete from quarantine where org_id = $1 and id = $2 returning id`, [
      orgId,
      id,
    ]);
    return rows.length > 0;
  }
}

function viewOf(row: QuarantineRow): QuarantineView {
  return { ...row, created_at: row.created_at.toISOString() };
}
