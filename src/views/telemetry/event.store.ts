import { Injectable } from '@nestjs/common';
import type { AnyEvent } from '../../platform/events/app-events.js';
import { DatabaseConnection } from '../../platform/database/connection.js';
import { Database } from '../../platform/database/database.js';
import { storedPayload } from './stored-payload.js';

/** An event as it is written: the row as JSON. */
export interface EventRow {
  id: string;
  json: string;
}

/** Any number that no other part of the service locks. */
const POSITION_LOCK = 5_713_820_416;
const SWEEP_BATCH = 5_000;

/**
 * Limits so that a writer which hangs holds up the others for a while only, and never for good. The lock is what makes
 * positions a total order that misses nothing: a sequence alone hands out 7 and 8 to two transactions of which that of 8
 * may commit first, and a reader who has seen 8 never asks for 7. Here the next position is drawn only after the commit
 * of the one before, so whoever sees a position has been able to see all below it.
 */
const BEGIN_WRITE = `
  set local lock_timeout = '5s';
  set local statement_timeout = '15s';
  set local idle_in_transaction_session_timeout = '15s';
  select pg_advisory_xact_lock(${POSITION_LOCK})`;

/** Where events are kept (mission, "Telemetry harness"). */
@Injectable()
export class EventStore {
  constructor(
    private readonly database: Database,
    private readonly connection: DatabaseConnection,
  ) {}

  /** @throws TypeError where JSON cannot express the payload */
  rowOf(event: AnyEvent): EventRow {
    const { timestamp, payload, ...rest } = event;
    const columns = JSON.stringify({ ...rest, occurred_at: timestamp });
    return { id: event.id, json: `${columns.slice(0, -1)},"payload":${storedPayload(payload)}}` };
  }

  /** Writes in one transaction, in this order. An event that is there already is left alone, so a write may be repeated. */
  async append(rows: readonly EventRow[]): Promise<void> {
    await this.database.transaction(async () => {
      await this.database.query(BEGIN_WRITE);
      await this.database.query(
        `insert into learning_events (position, id, occurred_at, org_id, type, agent_id, agent_handle, role, turn_id,
           trace_id, span_id, payload)
         select nextval('learning_event_positions'), e.id, e.occurred_at, e.org_id, e.type, e.agent_id, e.agent_handle,
           e.role, e.turn_id, e.trace_id, e.span_id, e.payload
         from jsonb_to_recordset($1::jsonb) as e(id uuid, occurred_at timestamptz, org_id uuid, type text, agent_id uuid,
           agent_handle text, role text, turn_id uuid, trace_id text, span_id text, payload jsonb)
         on conflict on constraint learning_events_pkey do nothing`,
        [`[${rows.map(({ json }) => json).join(',')}]`],
      );
    });
  }

  /** Deletes what happened before `before`; answers how many events went. */
  async sweep(before: Date): Promise<number> {
    let swept = 0;
    for (let found = SWEEP_BATCH; found === SWEEP_BATCH; swept += found) {
      const rows = await this.database.query(
        `delete from learning_events where (id, occurred_at) in (
           select id, occurred_at from learning_events where occurred_at < $1 order by occurred_at limit ${SWEEP_BATCH})
         returning id`,
        [before],
      );
      found = rows.length;
    }
    // Chunks that are empty by now would be planned for by every query.
    if (swept > 0 && this.connection.hypertable) {
      await this.database.query(`select drop_chunks('learning_events', older_than => $1::timestamptz)`, [before]);
    }
    return swept;
  }
}
