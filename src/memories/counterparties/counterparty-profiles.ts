import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { CounterpartyIdentities } from './counterparty-identities.js';
import { CounterpartyObservations } from './counterparty-observations.js';
import {
  PROFILE_COLUMNS,
  type Encounter,
  type ObserverRef,
  type ProfileRef,
  type ProfileRow,
} from './counterparty.models.js';
import type { TraitPatch, TraitValues } from './trait-patch.js';

/**
 * The writing side of what agents know of their counterparties (mission, "CounterpartyProfiler"): one profile an observer
 * and subject, its traits folded from observations that are only ever added. Nothing is shared between observers.
 * Every method joins the running transaction and holds the observer's profiles until that ends. Screening is its callers'.
 */
@Injectable()
export class CounterpartyProfiles {
  constructor(
    private readonly database: Database,
    private readonly identities: CounterpartyIdentities,
    private readonly observations: CounterpartyObservations,
  ) {}

  /** Counts the encounter, once a trigger and subject; null where it was counted before. */
  async count(encounter: Encounter): Promise<ProfileRow | null> {
    return this.alone(encounter, async () => {
      const { id } = await this.meet(encounter);
      const { orgId, agentId, triggerKey, turnId, at } = encounter;
      const counted = await this.database.query(
        `insert into counterparty_interactions (org_id, agent_id, profile_id, trigger_key, turn_id, occurred_at)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning profile_id`,
        [orgId, agentId, id, triggerKey, turnId, at],
      );
      if (counted.length === 0) return null;
      await this.database.query(
        `update counterparty_profiles set interaction_count = interaction_count + 1,
           first_seen_at = least(first_seen_at, $4) where org_id = $1 and agent_id = $2 and id = $3`,
        [orgId, agentId, id, at],
      );
      return this.observations.reindex({ orgId, agentId, id });
    });
  }

  /** Adds what a turn showed of the subject, who becomes known if it was not. */
  async observe(encounter: Encounter, patch: TraitPatch): Promise<ProfileRow> {
    return this.alone(encounter, async () => {
      const { orgId, agentId, triggerKey, turnId, at } = encounter;
      const { id } = await this.meet(encounter);
      const profile = { orgId, agentId, id };
      await this.observations.add(profile, { ...patch, turnId, triggerKey, source: 'profiler', observedAt: at });
      return this.observations.refold(profile);
    });
  }

  /** Takes over what the encounter tells of the subject's names, and nothing else. */
  async name(encounter: Encounter): Promise<ProfileRow> {
    return this.alone(encounter, async () => {
      const { id } = await this.meet(encounter);
      return this.observations.reindex({ orgId: encounter.orgId, agentId: encounter.agentId, id });
    });
  }

  /** An operator's edit. Null where there is no such profile; a null name is given up, turns name the subject again. */
  async edit(
    ref: ProfileRef,
    change: { traits?: TraitValues; name?: string | null },
    at: Date,
  ): Promise<ProfileRow | null> {
    return this.alone(ref, async () => {
      const found = await this.find(ref);
      if (!found) return null;
      const profile = { ...ref, id: found.id };
      if (change.name !== undefined) {
        await this.database.query(
          `update counterparty_profiles set subject_name = $4, name_source = $5, name_seen_at = null
           where org_id = $1 and agent_id = $2 and id = $3`,
          [ref.orgId, ref.agentId, found.id, change.name ?? '', change.name === null ? 'turn' : 'operator'],
        );
      }
      if (change.traits !== undefined) {
        const origin = { turnId: null, triggerKey: null, source: 'operator' as const, observedAt: at };
        await this.observations.add(profile, { traits: change.traits, noLonger: {}, ...origin });
      }
      return this.observations.refold(profile);
    });
  }

  /** The profile, or the one that it was linked to; null where there is none. */
  async find({ orgId, agentId, id }: ProfileRef): Promise<ProfileRow | null> {
    const [row] = await this.database.query<ProfileRow>(
      `select ${PROFILE_COLUMNS} from counterparty_profiles
       where org_id = $1 and agent_id = $2 and linked_to is null and id = coalesce((
         select linked_to from counterparty_profiles where org_id = $1 and agent_id = $2 and id = $3), $3)`,
      [orgId, agentId, id],
    );
    return row ?? null;
  }

  /** Forgets the subject: profile, names, observations and interactions. False where there is no such profile. */
  async remove(ref: ProfileRef): Promise<boolean> {
    return this.alone(ref, async () => {
      const found = await this.find(ref);
      if (!found) return false;
      for (const table of ['counterparty_identities', 'counterparty_observations', 'counterparty_interactions']) {
        await this.database.query(`delete from ${table} where org_id = $1 and agent_id = $2 and profile_id = $3`, [
          ref.orgId,
          ref.agentId,
          found.id,
        ]);
      }
      await this.database.query(
        `delete from counterparty_profiles where org_id = $1 and agent_id = $2 and $3 in (id, linked_to)`,
        [ref.orgId, ref.agentId, found.id],
      );
      return true;
    });
  }

  /**
   * Merges `other` into `ref`: two identities of one subject, within one observer. The names, observations and
   * interactions of both count; a trigger that brought both counts once, and what an operator set down about either holds
   * for the one that they are now. Both ids resolve to it.
   * Null where either is unknown, and no change where they are one already.
   */
  async link(ref: ProfileRef, otherId: string): Promise<ProfileRow | null> {
    return this.alone(ref, async () => {
      const [kept, other] = [await this.find(ref), await this.find({ ...ref, id: otherId })];
      if (!kept || !other || kept.id === other.id) return kept && other;
      const { orgId, agentId } = ref;
      const moved = [orgId, agentId, other.id, kept.id];
      const to = 'set profile_id = $4 where org_id = $1 and agent_id = $2 and profile_id = $3';
      await this.database.query(`update counterparty_identities ${to}`, moved);
      await this.database.query(`update counterparty_observations ${to}`, moved);
      await this.database.query(
        `delete from counterparty_interactions twice using counterparty_interactions known
         where twice.org_id = $1 and twice.agent_id = $2 and twice.profile_id = $3
           and known.profile_id = $4 and known.trigger_key = twice.trigger_key`,
        moved,
      );
      const added = await this.database.query(`update counterparty_interactions ${to} returning profile_id`, moved);
      await this.database.query(
        `update counterparty_profiles set linked_to = $4
         where org_id = $1 and agent_id = $2 and (id = $3 or linked_to = $3)`,
        moved,
      );
      await this.database.query(
        `update counterparty_profiles set interaction_count = interaction_count + $4,
           first_seen_at = least(first_seen_at, $5),
           subject_name = case when subject_name = '' then $6 else subject_name end
         where org_id = $1 and agent_id = $2 and id = $3`,
        [orgId, agentId, kept.id, added.length, other.first_seen_at, other.subject_name],
      );
      return this.observations.refold({ orgId, agentId, id: kept.id });
    });
  }

  /** One writer at a time an observer: two that meet the same subject must not both make a profile of it. */
  private alone<Result>({ orgId, agentId }: ObserverRef, work: () => Promise<Result>): Promise<Result> {
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
        `counterparties ${orgId} ${agentId}`,
      ]);
      return work();
    });
  }

  /** The profile of the encounter's subject, made if there is none, with what the encounter tells of its names. */
  private async meet(encounter: Encounter): Promise<{ id: string }> {
    const { orgId, agentId, sender, at } = encounter;
    const [knownId] = await this.identities.profilesOf(encounter, [sender]);
    const known = knownId ? await this.find({ orgId, agentId, id: knownId }) : null;
    const id = known?.id ?? randomUUID();
    if (!known) await this.insert(id, encounter);
    else {
      const there = known.subject_platform === sender.platform;
      const isNamed = sender.name !== '' && known.name_source === 'turn' && (known.name_seen_at ?? at) <= at;
      await this.database.query(
        `update counterparty_profiles set subject_external_id = $4, subject_handle = $5, subject_name = $6, name_seen_at = $7
         where org_id = $1 and agent_id = $2 and id = $3`,
        [
          orgId,
          agentId,
          id,
          known.subject_external_id || (there ? sender.externalId : ''),
          known.subject_handle || (there ? sender.handle : ''),
          isNamed ? sender.name : known.subject_name,
          isNamed ? at : known.name_seen_at,
        ],
      );
    }
    await this.identities.claim(encounter, id);
    return { id };
  }

  private async insert(id: string, { orgId, agentId, sender, at }: Encounter): Promise<void> {
    const now = new Date();
    await this.database.query(
      `insert into counterparty_profiles (id, org_id, agent_id, subject_platform, subject_external_id, subject_handle,
         subject_name, name_source, name_seen_at, traits, interaction_count, first_seen_at, last_updated_at, search,
         search_length, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'turn', $8, '{}', 0, $9, $10, '', 0, $10)`,
      [
        id,
        orgId,
        agentId,
        sender.platform,
        sender.externalId,
        sender.handle,
        sender.name,
        sender.name === '' ? null : at,
        at,
        now,
      ],
    );
  }
}
