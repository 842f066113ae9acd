import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the Execute phase of each iteration of a turn was answered. */
export class ExecuteContexts1764720000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table execute_contexts (
        org_id uuid not null,
        agent_id uuid not null,
        turn_id uuid not null,
        iteration integer not null,
        rendered text not null,
        created_at timestamptz not null,
        constraint execute_contexts_pkey primary key (org_id, agent_id, turn_id, iteration)
      )`);
    // The sweep looks for old rows over all organisations; the primary key does not serve it.
    await runner.query(`create index execute_contexts_age on execute_contexts (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table execute_contexts`);
  }
}
