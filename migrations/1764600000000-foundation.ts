import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Organisations, turns, episodes, the diary and what their processing needs. */
export class Foundation1764600000000 implements MigrationInterface {
  name = 'Foundation1764600000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create extension if not exists vector`);

    await runner.query(`
      create table organizations (
        id uuid not null,
        name text not null,
        auto_register boolean not null,
        daily_token_budget bigint,
        knowledge jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint organizations_pkey primary key (id),
        constraint organizations_name_key unique (name)
      )`);
    await runner.query(`
      create table roles (
        org_id uuid not null,
        name text not null,
        learning_enabled boolean,
        llm jsonb not null,
        llm_auxiliary jsonb not null,
        max_concurrent integer,
        constraint roles_pkey primary key (org_id, name)
      )`);
    await runner.query(`
      create table units (
        org_id uuid not null,
        name text not null,
        parent text,
        lead text,
        confluence_space text,
        plane_project text,
        constraint units_pkey primary key (org_id, name)
      )`);
    await runner.query(`
      create table agents (
        id uuid not null,
        org_id uuid not null,
        handle text not null,
        role text not null,
        unit text,
        active boolean not null,
        daily_token_budget bigint,
        credentials jsonb not null,
        last_turn_at timestamptz,
        created_at timestamptz not null,
        constraint agents_pkey primary key (id),
        constraint agents_handle_key unique (org_id, handle)
      )`);
    await runner.query(`
      create table people (
        org_id uuid not null,
        handle text not null,
        display_name text,
        identities jsonb not null,
        constraint people_pkey primary key (org_id, handle)
      )`);
    await runner.query(`
      create table api_keys (
        id uuid not null,
        org_id uuid not null,
        name text not null,
        key_hash text not null,
        scopes jsonb not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        revoked_at timestamptz,
        constraint api_keys_pkey primary key (id),
        constraint api_keys_hash_key unique (key_hash)
      )`);

    await runner.query(`
      create table turns (
        org_id uuid not null,
        turn_id uuid not null,
        agent_id uuid not null,
        episode_id uuid not null,
        role text not null,
        work_key text not null,
        content_hash text not null,
        conversation_id text,
        body jsonb,
        review_outcome text not null,
        started_at timestamptz not null,
        ended_at timestamptz not null,
        received_at timestamptz not null,
        trace_id text,
        span_id text,
        reflection_status text not null,
        reflection_reason text,
        reflection_ended_at timestamptz,
        constraint turns_pkey primary key (org_id, turn_id)
      )`);
    // Only a done turn claims its trigger: a failed or unfinished try must never hide the good one.
    await runner.query(`
      create unique index turns_done_work_key on turns (org_id, agent_id, work_key)
        where review_outcome = 'done' and work_key <> ''`);
    // What the sweep of bodies looks for, in a table whose rows stay.
    await runner.query(`create index turns_with_body on turns (reflection_ended_at) where body is not null`);
    // Names may be too long for an index, so a digest of them is the key.
    await runner.query(`
      create table turn_subjects (
        org_id uuid not null,
        turn_id uuid not null,
        platform text not null,
        external_id text not null,
        handle text not null,
        display_name text not null,
        subject_key text not null,
        constraint turn_subjects_pkey primary key (org_id, turn_id, subject_key)
      )`);

    // started_at stands in the key because a hypertable's unique index must hold the time column.
    await runner.query(`
      create table episodes (
        id uuid not null,
        started_at timestamptz not null,
        org_id uuid not null,
        agent_id uuid not null,
        agent_handle text not null,
        agent_role text not null,
        turn_id uuid,
        task_id text,
        conversation_id text,
        kind text not null,
        count integer not null,
        task_summary text not null,
        plan_summary text not null,
        plan_decision text not null,
        engaged boolean not null,
        tool_sequence jsonb not null,
        skills_used jsonb not null,
        review_outcome text not null,
        ended_at timestamptz not null,
        duration_ms bigint not null,
        work_key text not null,
        common_task_pattern text,
        common_outcome text,
        success_rate double precision,
        subjects_involved jsonb not null,
        notable_patterns text,
        exemplar_turn_ids jsonb not null,
        is_exemplar boolean not null,
        consolidated_into_skill_id uuid,
        consolidated_at timestamptz,
        source_turn_ids jsonb not null,
        search tsvector not null,
        search_length integer not null,
        embedding vector,
        embedding_model text,
        created_at timestamptz not null,
        constraint episodes_pkey primary key (id, started_at),
        constraint episodes_kind_check check (kind in ('raw', 'compacted'))
      )`);
    // Only a superuser may install TimescaleDB, and only where the server has loaded it; without it a plain table serves.
    const [timescale] = (await runner.query(`
      select case
        when exists (select from pg_extension where extname = 'timescaledb') then true
        when (select rolsuper from pg_roles where rolname = current_user)
          then exists (select from pg_available_extensions where name = 'timescaledb')
            and current_setting('shared_preload_libraries') like '%timescaledb%'
        else false
      end as usable`)) as { usable: boolean }[];
    if (timescale?.usable) {
      await runner.query(`create extension if not exists timescaledb`);
      await runner.query(`
        select create_hypertable('episodes', by_range('started_at', interval '7 days'),
          create_default_indexes => false)`);
    }
    // Every read is of one agent: newest first, or an exact scan of all its rows.
    await runner.query(`create index episodes_agent on episodes (org_id, agent_id, started_at)`);
    await runner.query(`create index episodes_turn on episodes (org_id, turn_id)`);
    await runner.query(`create index episodes_embedding_model on episodes (embedding_model, id)`);

    await runner.query(`
      create table agent_diary (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        kind text not null,
        content text not null,
        content_hash text not null,
        ttl_until timestamptz,
        source text not null,
        turn_id uuid,
        conversation_id text,
        metadata jsonb not null,
        observed_at timestamptz not null,
        source_turn_ids jsonb not null,
        superseded_by uuid,
        live boolean not null,
        retrieval_count integer not null,
        last_retrieved_at timestamptz,
        search tsvector not null,
        search_length integer not null,
        embedding vector,
        embedding_model text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint agent_diary_pkey primary key (id),
        constraint agent_diary_kind_check check (kind in ('diary_long', 'diary_short'))
      )`);
    // Two writers of one fact meet here, whichever process they run in.
    await runner.query(`
      create unique index agent_diary_live_content on agent_diary (org_id, agent_id, content_hash) where live`);
    await runner.query(`create index agent_diary_agent on agent_diary (org_id, agent_id, created_at, id)`);
    await runner.query(`create index agent_diary_embedding_model on agent_diary (embedding_model, id) where live`);
    await runner.query(`create index agent_diary_ttl on agent_diary (ttl_until) where ttl_until is not null`);

    await runner.query(`
      create table doc_recommendations (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        content text not null,
        target_hint text,
        rationale text,
        turn_id uuid,
        source_turn_ids jsonb not null,
        status text not null,
        created_at timestamptz not null,
        constraint doc_recommendations_pkey primary key (id),
        constraint doc_recommendations_status_check check (status in ('open', 'done', 'dismissed'))
      )`);
    await runner.query(`
      create index doc_recommendations_agent on doc_recommendations (org_id, agent_id, created_at, id)`);
    await runner.query(`
      create table quarantine (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        kind text not null,
        reason text not null,
        content text not null,
        payload jsonb not null,
        content_hash text not null,
        turn_id uuid,
        created_at timestamptz not null,
        constraint quarantine_pkey primary key (id)
      )`);
    // What is tried again and again waits once.
    await runner.query(`
      create unique index quarantine_content on quarantine (org_id, agent_id, kind, content_hash)`);
    await runner.query(`create index quarantine_org on quarantine (org_id, created_at, id)`);

    await runner.query(`
      create table reflection_runs (
        org_id uuid not null,
        turn_id uuid not null,
        worker text not null,
        part text not null,
        status text not null,
        reason text,
        attempts integer not null,
        error text,
        settled boolean not null,
        updated_at timestamptz not null,
        constraint reflection_runs_pkey primary key (org_id, turn_id, worker, part)
      )`);
    await runner.query(`
      create table plan_contexts (
        org_id uuid not null,
        agent_id uuid not null,
        turn_id uuid not null,
        role text not null,
        request jsonb not null,
        rendered text not null,
        shown jsonb not null,
        conversation_id text,
        trace_id text,
        span_id text,
        frozen_at timestamptz not null,
        constraint plan_contexts_pkey primary key (org_id, agent_id, turn_id)
      )`);
    await runner.query(`create index plan_contexts_age on plan_contexts (frozen_at)`);
    await runner.query(`
      create table memory_refreshes (
        org_id uuid not null,
        agent_id uuid not null,
        turn_id uuid not null,
        hint_hash text not null,
        output text,
        data jsonb,
        lease_until timestamptz,
        created_at timestamptz not null,
        constraint memory_refreshes_pkey primary key (org_id, agent_id, turn_id, hint_hash),
        constraint memory_refreshes_state_check check ((output is null) = (lease_until is not null))
      )`);
    await runner.query(`create index memory_refreshes_age on memory_refreshes (created_at)`);
    await runner.query(`
      create table llm_usage (
        org_id uuid not null,
        day date not null,
        agent_id uuid not null,
        worker text not null,
        provider text not null,
        calls bigint not null,
        input_tokens bigint not null,
        output_tokens bigint not null,
        constraint llm_usage_pkey primary key (org_id, day, agent_id, worker, provider)
      )`);
    await runner.query(`
      create table execution_slots (
        id uuid not null,
        org_id uuid not null,
        role text not null,
        holder text not null,
        turn_id uuid,
        expires_at timestamptz not null,
        constraint execution_slots_pkey primary key (id),
        constraint execution_slots_holder_check check (holder in ('turn', 'reflection'))
      )`);
    await runner.query(`create index execution_slots_org on execution_slots (org_id, role)`);
    // Reflections that found no slot, so that live turns leave them one.
    await runner.query(`
      create table execution_slot_waits (
        org_id uuid not null,
        turn_id uuid not null,
        role text not null,
        since timestamptz not null,
        asked_at timestamptz not null,
        constraint execution_slot_waits_pkey primary key (org_id, turn_id)
      )`);
    await runner.query(`
      create table job_worker_heartbeats (
        worker_id text not null,
        seen_at timestamptz not null,
        constraint job_worker_heartbeats_pkey primary key (worker_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [
      'job_worker_heartbeats',
      'execution_slot_waits',
      'execution_slots',
      'llm_usage',
      'memory_refreshes',
      'plan_contexts',
      'reflection_runs',
      'quarantine',
      'doc_recommendations',
      'agent_diary',
      'episodes',
      'turn_subjects',
      'turns',
      'api_keys',
      'people',
      'agents',
      'units',
      'roles',
      'organizations',
    ]) {
      await runner.query(`drop table ${table}`);
    }
  }
}
