import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';

/** The wire form of an event. */
export interface EventView {
  id: string;
  type: string;
  timestamp: string;
  agent_id: string | null;
  agent_handle: string | null;
  role: string | null;
  turn_id: string | null;
  trace_id: string | null;
  span_id: string | null;
  payload: unknown;
}

export interface EventFilter {
  orgId: string;
  type?: string;
  agentId?: string;
  turnId?: string;
  /** The earliest moment, itself included. */
  since?: Date;
}

interface EventRow extends Omit<EventView, 'timestamp'> {
  occurred_at: Date;
  position: string;
}

/** How far back to look from an event that is gone: its neighbours may have been written later than they happened. */
const LATENESS_MS = 10 * 60_000;

const FILTER = `org_id = $1 and ($2::text is null or type = $2) and ($3::uuid is null or agent_id = $3)
  and ($4::uuid is null or turn_id = $4) and ($5::timestamptz is null or occurred_at >= $5)`;

/** Events as they were stored. */
@Injectable()
export class EventReader {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  list(filter: EventFilter, request: PageRequest): Promise<Page<EventView>> {
    return keysetList<EventRow, EventView>(this.database, {
      columns: '*',
      from: 'learning_events',
      filter: FILTER,
      parameters: parametersOf(filter),
      time: 'occurred_at',
      request,
      position: (row) => [row.occurred_at, row.id],
      view,
    });
  }

  /** In the order of their positions, those after `position`. */
  async after(filter: EventFilter, position: number, limit: number): Promise<{ event: EventView; position: number }[]> {
    const rows = await this.database.query<EventRow>(
      `select * from learning_events where ${FILTER} and position > $6 order by position limit $7`,
      [...parametersOf(filter), position, limit],
    );
    return rows.map((row) => ({ event: view(row), position: Number(row.position) }));
  }

  /** The last position of each organisation; 0 where it has no event. */
  async heads(orgIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.database.query<{ org_id: string; head: string }>(
      `select org.id as org_id,
         coalesce((select max(position) from learning_events where org_id = org.id), 0)::text as head
       from unnest($1::uuid[]) as org(id)`,
      [orgIds],
    );
    return new Map(rows.map(({ org_id: orgId, head }) => [orgId, Number(head)]));
  }

  /** The position before the first event that is not older than `since`; null where there is none yet. */
  async before(orgId: string, since: Date): Promise<number | null> {
    const [row] = await this.database.query<{ first: string | null }>(
      `select min(position)::text as first from learning_events where org_id = $1 and occurred_at >= $2`,
      [orgId, since],
    );
    return row?.first == null ? null : Number(row.first) - 1;
  }

  /**
   * Where to read on after an event. One that was swept or erased tells by its id when it happened, and the reading goes on from
   * a little earlier: something may come twice, nothing is missed. Null for an id that is none of ours.
   */
  async positionOf(orgId: string, eventId: string): Promise<number | null> {
    const [row] = await this.database.query<{ position: string }>(
      `select position from learning_events where org_id = $1 and id = $2`,
      [orgId, eventId],
    );
    if (row) return Number(row.position);
    const at = timeOf(eventId);
    if (!at) return null;
    const before = await this.before(orgId, new Date(at.getTime() - LATENESS_MS));
    return before ?? (await this.heads([orgId])).get(orgId) ?? 0;
  }
}

function parametersOf({ orgId, type, agentId, turnId, since }: EventFilter): unknown[] {
  return [orgId, type ?? null, agentId ?? null, turnId ?? null, since ?? null];
}

function view(row: EventRow): EventView {
  return {
    id: row.id,
    type: row.type,
    timestamp: row.occurred_at.toISOString(),
    agent_id: row.agent_id,
    agent_handle: row.agent_handle,
    role: row.role,
    turn_id: row.turn_id,
    trace_id: row.trace_id,
    span_id: row.span_id,
    payload: row.payload,
  };
}

/** The time in a UUID of version 7 (RFC 9562); null for another version, or a time that no event of ours has. */
function timeOf(uuid: string): Date | null {
  if (uuid[14] !== '7') return null;
  const milliseconds = Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);
  return milliseconds > Date.now() + LATENESS_MS ? null : new Date(milliseconds);
}
