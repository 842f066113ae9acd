import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events, tickets for their stream, the record of administrative calls, and when a key was last used. */
export class Telemetry1764760000000 implements MigrationInterface {
  name = 'Telemetry1764760000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table api_keys add column last_used_at timestamptz`);

    // Drawn under a lock that is held until the commit, so that positions become visible in their order.
    await runner.query(`create sequence learning_event_positions`);
    // occurred_at stands in the key because a hypertable's unique index must hold the time column.
    await runner.query(`
      create table learning_events (
        id uuid not null,
        occurred_at timestamptz not null,
        position bigint not null,
        org_id uuid not null,
        type text not null,
        agent_id uuid,
        agent_handle text,
        role text,
        turn_id uuid,
        trace_id text,
        span_id text,
        payload jsonb not null,
        constraint learning_events_pkey primary key (id, occurred_at)
      )`);
    const [timescale] = (await runner.query(`
      select exists (select from pg_extension where extname = 'timescaledb') as usable`)) as { usable: boolean }[];
    if (timescale?.usable) {
      await runner.query(`
        select create_hypertable('learning_events', by_range('occurred_at', interval '7 days'),
          create_default_indexes => false)`);
    }
    // A stream reads on from a position.
    await runner.query(`create index learning_events_position on learning_events (org_id, position)`);
    // The list, newest first.
    await runner.query(`create index learning_events_time on learning_events (org_id, occurred_at, id)`);
    // The list of one agent or turn, and what erasure looks for.
    await runner.query(`create index learning_events_agent on learning_events (org_id, agent_id, occurred_at)`);
    await runner.query(`create index learning_events_turn on learning_events (org_id, turn_id)`);
    // The sweep, over all organisations.
    await runner.query(`create index learning_events_age on learning_events (occurred_at)`);

    await runner.query(`
      create table stream_tickets (
        ticket_hash text not null,
        org_id uuid not null,
        key_id text,
        key_name text,
        expires_at timestamptz not null,
        constraint stream_tickets_pkey primary key (ticket_hash)
      )`);

    await runner.query(`
      create table audit_log (
        id uuid not null,
        org_id uuid not null,
        key_id text,
        key_name text,
        method text not null,
        route text not null,
        targets jsonb not null,
        status integer,
        at timestamptz not null,
        constraint audit_log_pkey primary key (id)
      )`);
    await runner.query(`create index audit_log_org on audit_log (org_id, at, id)`);
    // The sweep, over all organisations.
    await runner.query(`create index audit_log_age on audit_log (at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['audit_log', 'stream_tickets', 'learning_events']) await runner.query(`drop table ${table}`);
    await runner.query(`drop sequence learning_event_positions`);
    await runner.query(`alter table api_keys drop column last_used_at`);
  }
}
