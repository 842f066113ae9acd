import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What agents know of the people and agents that they deal with. */
export class Counterparties1764710000000 implements MigrationInterface {
  name = 'Counterparties1764710000000';

  async up(runner: QueryRunner): Promise<void> {
    // A linked profile stays as a pointer, so that its id goes on to resolve.
    await runner.query(`
      create table counterparty_profiles (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        subject_platform text not null,
        subject_external_id text not null,
        subject_handle text not null,
        subject_name text not null,
        name_source text not null,
        name_seen_at timestamptz,
        linked_to uuid,
        traits jsonb not null,
        interaction_count integer not null,
        first_seen_at timestamptz not null,
        last_updated_at timestamptz not null,
        last_corroborated_at timestamptz,
        search tsvector not null,
        search_length integer not null,
        created_at timestamptz not null,
        constraint counterparty_profiles_pkey primary key (id),
        constraint counterparty_profiles_name_source_check check (name_source in ('turn', 'operator'))
      )`);
    // Lists are of one observer: in the order of their making, which no later turn changes under a cursor.
    await runner.query(`
      create index counterparty_profiles_agent on counterparty_profiles (org_id, agent_id, created_at, id)`);
    // The dashboard's section: those first that were dealt with last.
    await runner.query(`
      create index counterparty_profiles_updated on counterparty_profiles (org_id, agent_id, last_updated_at, id)`);
    await runner.query(`
      create index counterparty_profiles_linked on counterparty_profiles (linked_to) where linked_to is not null`);

    // Names may be too long for an index, so a digest of them is the key.
    await runner.query(`
      create table counterparty_identities (
        org_id uuid not null,
        agent_id uuid not null,
        identity_key text not null,
        profile_id uuid not null,
        platform text not null,
        kind text not null,
        value text not null,
        seen_at timestamptz not null,
        constraint counterparty_identities_pkey primary key (org_id, agent_id, identity_key),
        constraint counterparty_identities_kind_check check (kind in ('external_id', 'handle'))
      )`);
    await runner.query(`create index counterparty_identities_profile on counterparty_identities (profile_id)`);

    await runner.query(`
      create table counterparty_observations (
        id uuid not null,
        org_id uuid not null,
        agent_id uuid not null,
        profile_id uuid not null,
        turn_id uuid,
        trigger_key text,
        source text not null,
        traits jsonb not null,
        no_longer jsonb not null,
        source_turn_ids jsonb not null,
        observed_at timestamptz not null,
        created_at timestamptz not null,
        constraint counterparty_observations_pkey primary key (id),
        constraint counterparty_observations_source_check check (source in ('profiler', 'operator', 'import'))
      )`);
    // Traits are folded from all observations of a profile in the order of time; lists of them are paged by it.
    await runner.query(`
      create index counterparty_observations_profile on counterparty_observations (profile_id, observed_at, id)`);

    // The key is what makes an interaction count once, whichever try of its turn comes first.
    await runner.query(`
      create table counterparty_interactions (
        org_id uuid not null,
        agent_id uuid not null,
        profile_id uuid not null,
        trigger_key text not null,
        turn_id uuid not null,
        occurred_at timestamptz not null,
        constraint counterparty_interactions_pkey primary key (profile_id, trigger_key)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [
      'counterparty_interactions',
      'counterparty_observations',
      'counterparty_identities',
      'counterparty_profiles',
    ]) {
      await runner.query(`drop table ${table}`);
    }
  }
}
