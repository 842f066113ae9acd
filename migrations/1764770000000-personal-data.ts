import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns whose change may bring a name back: a change of any other need not wait for an erasure. */
const TEXTS: Record<string, string> = {
  turns: 'body, conversation_id, trace_id',
  turn_subjects: 'external_id, handle, display_name',
  episodes:
    'task_id, conversation_id, task_summary, plan_summary, common_task_pattern, subjects_involved, notable_patterns',
  agent_diary: 'content, conversation_id, metadata',
  doc_recommendations: 'content, target_hint, rationale',
  quarantine: 'content, payload',
  reflection_runs: 'error',
  plan_contexts: 'request, rendered, shown',
  execute_contexts: 'rendered',
  memory_refreshes: 'output, data',
  synthesized_skills: 'name, description, content, version_note',
  synthesized_skill_versions: 'description, content, note',
  skill_cluster_verdicts: 'reason',
  counterparty_profiles: 'subject_external_id, subject_handle, subject_name, traits, linked_to',
  counterparty_identities: 'profile_id, value',
  counterparty_observations: 'profile_id, traits, no_longer',
  counterparty_interactions: 'profile_id',
  agent_onboarding_markers: 'summary',
  compaction_passes: 'cursor_id',
  tool_skills: 'title, summary, body',
  tool_skill_pages: 'skill, problem',
};

/** Rows of these may come late from an agent that is gone: they are dropped, and nothing fails for their sake. */
const DROPPED: Record<string, 'event' | 'usage'> = { learning_events: 'event', llm_usage: 'usage' };

const WITHOUT_AGENT = ['turn_subjects', 'reflection_runs', 'tool_skills', 'tool_skill_pages'];

/** What keeps writers and erasures apart, and finds who spoke. */
export class PersonalData1764770000000 implements MigrationInterface {
  name = 'PersonalData1764770000000';

  async up(runner: QueryRunner): Promise<void> {
    // Says when something was erased, and never whom.
    await runner.query(`create sequence erasure_positions`);
    await runner.query(`
      create table erasures (
        id uuid not null,
        position bigint not null,
        org_id uuid not null,
        agent_id uuid,
        at timestamptz not null,
        constraint erasures_pkey primary key (id)
      )`);
    // Asked at every write: has anything been erased, or this agent?
    await runner.query(`create index erasures_org on erasures (org_id, agent_id, position)`);

    // Identities may be too long for an index, so a digest of them stands in it.
    await runner.query(`
      create index turn_subjects_external_id on turn_subjects (org_id, md5(btrim(external_id))) where external_id <> ''`);
    await runner.query(`
      create index turn_subjects_handle on turn_subjects (org_id, md5(btrim(handle))) where handle <> ''`);
    // Whoever knows a person, over all observers.
    await runner.query(`create index counterparty_identities_known on counterparty_identities (org_id, identity_key)`);

    await runner.query(`
      create function enter_erasure_gate(org uuid) returns void language sql volatile as
      $$ select pg_advisory_xact_lock_shared(hashtextextended('erasure ' || org::text, 0)) $$`);
    // Each statement sees what had committed when it began, so after the lock it sees the erasure that it waited for.
    await runner.query(`
      create function guard_personal_write() returns trigger language plpgsql as $$
      begin
        perform enter_erasure_gate(new.org_id);
        if tg_op = 'UPDATE' or tg_argv[0] = 'any' then
          return new;
        end if;
        if exists (select from erasures where org_id = new.org_id and agent_id = new.agent_id)
          and not exists (select from agents where id = new.agent_id) then
          if tg_argv[0] = 'agent' then
            raise exception 'agent % was erased', new.agent_id using errcode = 'AL404';
          end if;
          return null;
        end if;
        if tg_argv[0] = 'event' then
          if exists (select from erasures where org_id = new.org_id and at >= new.occurred_at) then
            return null;
          end if;
        end if;
        return new;
      end $$`);
    for (const [table, columns] of Object.entries(TEXTS)) {
      const mode = WITHOUT_AGENT.includes(table) ? 'any' : 'agent';
      await runner.query(`
        create trigger ${table}_erasure_gate before insert or update of ${columns} on ${table}
        for each row execute function guard_personal_write('${mode}')`);
    }
    for (const [table, mode] of Object.entries(DROPPED)) {
      await runner.query(`
        create trigger ${table}_erasure_gate before insert on ${table}
        for each row execute function guard_personal_write('${mode}')`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [...Object.keys(TEXTS), ...Object.keys(DROPPED)]) {
      await runner.query(`drop trigger ${table}_erasure_gate on ${table}`);
    }
    await runner.query(`drop function guard_personal_write()`);
    await runner.query(`drop function enter_erasure_gate(uuid)`);
    for (const index of ['counterparty_identities_known', 'turn_subjects_handle', 'turn_subjects_external_id']) {
      await runner.query(`drop index ${index}`);
    }
    await runner.query(`drop table erasures`);
    await runner.query(`drop sequence erasure_positions`);
  }
}
