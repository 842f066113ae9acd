import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which clusters of siblings' skills were looked at, and the drafts that came of them. */
export class Promotions1764750000000 implements MigrationInterface {
  name = 'Promotions1764750000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table promotions (
        id uuid not null,
        org_id uuid not null,
        unit text not null,
        member_skill_ids jsonb not null,
        source_turn_ids jsonb not null,
        sibling_count integer not null,
        distinct_agents integer not null,
        role text not null,
        state text not null,
        reason text,
        name text,
        content text,
        attempts integer not null,
        last_error text,
        backend text,
        container_key text,
        page_id text,
        page_title text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        published_at timestamptz,
        constraint promotions_pkey primary key (id),
        constraint promotions_state_check check (state in ('refused', 'quarantined', 'drafted', 'published')),
        constraint promotions_draft_check check (state = 'refused' or (name is not null and content is not null)),
        constraint promotions_page_check check ((state = 'published') = (page_id is not null))
      )`);
    // Each look at a unit reads all that was decided on it, and what was left behind by a unit that has been renamed.
    await runner.query(`create index promotions_unit on promotions (org_id, unit)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table promotions`);
  }
}
