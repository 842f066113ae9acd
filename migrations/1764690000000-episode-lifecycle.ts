import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the lifecycle of episodes needs: a cheap count of raw rows, and how far a pass over them has come. */
export class EpisodeLifecycle1764690000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Counted at every write up to the bound, and walked oldest first; compacted rows, which pile up, stand in neither's way.
    await runner.query(`create index episodes_raw on episodes (org_id, agent_id, ended_at, id) where kind = 'raw'`);
    await runner.query(`
      create table compaction_passes (
        org_id uuid not null,
        agent_id uuid not null,
        cursor_ended_at timestamptz,
        cursor_id uuid,
        wraps boolean not null,
        failures integer not null,
        retry_at timestamptz,
        non_terminal_dropped integer not null,
        consolidated_dropped integer not null,
        clusters_compacted integer not null,
        raw_replaced_by_compaction integer not null,
        compacted_evicted integer not null,
        constraint compaction_passes_pkey primary key (org_id, agent_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table compaction_passes`);
    await runner.query(`drop index episodes_raw`);
  }
}
