import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Onboarding markers, and the tool skills that are not files. */
export class Guidance1764730000000 implements MigrationInterface {
  name = 'Guidance1764730000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table agent_onboarding_markers (
        org_id uuid not null,
        agent_id uuid not null,
        chain_hash text,
        summary text,
        onboarded_at timestamptz,
        lease_id uuid,
        lease_until timestamptz,
        source_turn_ids jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint agent_onboarding_markers_pkey primary key (org_id, agent_id),
        constraint agent_onboarding_markers_mark_check check (
          (chain_hash is null) = (summary is null) and (chain_hash is null) = (onboarded_at is null)),
        constraint agent_onboarding_markers_lease_check check ((lease_id is null) = (lease_until is null))
      )`);

    await runner.query(`
      create table tool_skills (
        org_id uuid not null,
        key text not null,
        trigger jsonb not null,
        phases jsonb not null,
        title text not null,
        summary text not null,
        required boolean not null,
        body text not null,
        released boolean not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint tool_skills_pkey primary key (org_id, key)
      )`);
    // One page is one skill, so the page is the key: a page that gets another key leaves none behind.
    await runner.query(`
      create table tool_skill_pages (
        org_id uuid not null,
        source text not null,
        place text not null,
        page_id text not null,
        skill jsonb,
        content_hash text not null,
        problem text,
        released_hash text,
        updated_at timestamptz not null,
        constraint tool_skill_pages_pkey primary key (org_id, source, place, page_id),
        constraint tool_skill_pages_source_check check (source in ('confluence', 'plane')),
        constraint tool_skill_pages_content_check check (skill is not null or problem is not null)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['tool_skill_pages', 'tool_skills', 'agent_onboarding_markers']) {
      await runner.query(`drop table ${table}`);
    }
  }
}
