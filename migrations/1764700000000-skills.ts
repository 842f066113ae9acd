import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What agents have learned to do, how it came to read as it does, and how much it is used. */
export class Skills1764700000000 implements MigrationInterface {
  name = 'Skills1764700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table synthesized_skills (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        name text not null,
        description text not null,
        content text not null,
        tool_sequence jsonb not null,
        source_episode_ids jsonb not null,
        source_turn_ids jsonb not null,
        origin text not null,
        trigger text,
        cluster_fingerprint text,
        operator_edited boolean not null,
        operator_released boolean not null,
        version integer not null,
        version_kind text not null,
        version_note text,
        version_at timestamptz not null,
        state text not null,
        pinned boolean not null,
        stale_at timestamptz,
        archived_at timestamptz,
        revived_at timestamptz,
        use_count integer not null,
        last_used_at timestamptz,
        done_count integer not null,
        failed_count integer not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint synthesized_skills_pkey primary key (id),
        constraint synthesized_skills_origin_check check (origin in ('synthesized', 'operator', 'import')),
        constraint synthesized_skills_trigger_check check (trigger in ('single_turn', 'clustered')),
        constraint synthesized_skills_state_check check (state in ('active', 'stale', 'archived', 'rejected'))
      )`);
    // Two writers of one name meet here; an archived or rejected skill has given its name free.
    await runner.query(`
      create unique index synthesized_skills_live_name on synthesized_skills (org_id, agent_id, name)
        where state in ('active', 'stale')`);
    // Every read is of one agent, newest first.
    await runner.query(
      `create index synthesized_skills_agent on synthesized_skills (org_id, agent_id, created_at, id)`,
    );

    await runner.query(`
      create table synthesized_skill_versions (
        id uuid not null,
        skill_id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        version integer not null,
        description text not null,
        content text not null,
        tool_sequence jsonb not null,
        source_episode_ids jsonb not null,
        source_turn_ids jsonb not null,
        operator_edited boolean not null,
        operator_released boolean not null,
        kind text not null,
        note text,
        created_at timestamptz not null,
        archived_at timestamptz not null,
        constraint synthesized_skill_versions_pkey primary key (id),
        constraint synthesized_skill_versions_skill_fkey foreign key (skill_id)
          references synthesized_skills (id) on delete cascade
      )`);
    // A version is archived once; the history of a skill is read and pruned by it.
    await runner.query(`
      create unique index synthesized_skill_versions_version on synthesized_skill_versions (skill_id, version)`);

    await runner.query(`
      create table skill_cluster_verdicts (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        fingerprint text not null,
        tool_sequence jsonb not null,
        member_episode_ids jsonb not null,
        source_turn_ids jsonb not null,
        member_count integer not null,
        verdict text not null,
        reason text,
        skill_id uuid,
        created_at timestamptz not null,
        decided_at timestamptz not null,
        constraint skill_cluster_verdicts_pkey primary key (id)
      )`);
    // One verdict a cluster, whichever process judged it.
    await runner.query(`
      create unique index skill_cluster_verdicts_fingerprint
        on skill_cluster_verdicts (org_id, agent_id, fingerprint)`);

    // Averages of an agent without a live skill are 0, not null: a new agent sits at zero until it has been alive long enough.
    await runner.query(`
      create view learning_health as
        select agents.org_id, agents.id as agent_id, agents.handle as agent_handle,
          count(skill.id)::int as total_skills,
          (count(skill.id) filter (where skill.use_count > 0))::int as skills_used_at_least_once,
          coalesce(sum(skill.use_count), 0)::int as total_skill_uses,
          max(skill.last_used_at) as most_recent_skill_use,
          coalesce(avg(skill.use_count), 0)::float8 as avg_uses_per_skill,
          coalesce(avg(extract(epoch from now() - skill.created_at)) / 86400, 0)::float8 as avg_skill_age_days
        from agents
        left join synthesized_skills skill
          on skill.org_id = agents.org_id and skill.agent_id = agents.id and skill.state in ('active', 'stale')
        group by agents.org_id, agents.id, agents.handle`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop view learning_health`);
    for (const table of ['skill_cluster_verdicts', 'synthesized_skill_versions', 'synthesized_skills']) {
      await runner.query(`drop table ${table}`);
    }
  }
}
