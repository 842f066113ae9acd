import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import { Database } from '../../platform/database/database.js';
import { PROFILE_COLUMNS, type ProfileRef, type ProfileRow } from './counterparty.models.js';
import { foldTraits, type Observation, type Traits } from './trait-folding.js';
import type { TraitValues } from './trait-patch.js';

export interface NewObservation extends Observation {
  turnId: string | null;
}

interface ObservationRow {
  traits: TraitValues;
  no_longer: TraitValues;
  observed_at: Date;
  trigger_key: string | null;
  source: Observation['source'];
}

/** The history of a profile: rows are added, and the traits are folded from all of them. */
@Injectable()
export class CounterpartyObservations {
  constructor(private readonly database: Database) {}

  async add({ orgId, agentId, id }: ProfileRef, observation: NewObservation): Promise<void> {
    const { turnId } = observation;
    await this.database.query(
      `insert into counterparty_observations (id, org_id, agent_id, profile_id, turn_id, trigger_key, source, traits,
         no_longer, source_turn_ids, observed_at, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9::jsonb, $10::jsonb, $11, $12)`,
      [
        randomUUID(),
        orgId,
        agentId,
        id,
        turnId,
        observation.triggerKey,
        observation.source,
        JSON.stringify(observation.traits),
        JSON.stringify(observation.noLonger),
        JSON.stringify(turnId === null ? [] : [turnId]),
        observation.observedAt,
        new Date(),
      ],
    );
  }

  /** Folds the traits anew. */
  async refold(profile: ProfileRef): Promise<ProfileRow> {
    const { orgId, agentId, id } = profile;
    const rows = await this.database.query<ObservationRow>(
      `select traits, no_longer, observed_at, trigger_key, source from counterparty_observations
       where org_id = $1 and agent_id = $2 and profile_id = $3 order by observed_at, created_at, id`,
      [orgId, agentId, id],
    );
    const observations = rows.map((row): Observation => ({
      traits: row.traits,
      noLonger: row.no_longer,
      observedAt: row.observed_at,
      triggerKey: row.trigger_key,
      source: row.source,
    }));
    const corroborated = observations.findLast(({ source }) => source !== 'operator')?.observedAt ?? null;
    await this.database.query(
      `update counterparty_profiles set traits = $4::jsonb, last_corroborated_at = $5
       where org_id = $1 and agent_id = $2 and id = $3`,
      [orgId, agentId, id, JSON.stringify(foldTraits(observations)), corroborated],
    );
    return this.reindex(profile);
  }

  /** Writes down that the profile has changed, and the words by which it is found now. */
  async reindex({ orgId, agentId, id }: ProfileRef): Promise<ProfileRow> {
    const [known] = await this.database.query<{ names: string; traits: Traits }>(
      `select traits, concat_ws(' ', subject_name, subject_platform, subject_external_id, subject_handle,
         (select string_agg(platform || ' ' || value, ' ') from counterparty_identities
          where org_id = $1 and agent_id = $2 and profile_id = $3)) as names
       from counterparty_profiles where org_id = $1 and agent_id = $2 and id = $3`,
      [orgId, agentId, id],
    );
    const { search, length } = searchColumns(`${known!.names}\n${wordsOf(known!.traits)}`);
    const [row] = await this.database.query<ProfileRow>(
      `update counterparty_profiles set search = to_tsvector('english', $4), search_length = $5, last_updated_at = $6
       where org_id = $1 and agent_id = $2 and id = $3 returning ${PROFILE_COLUMNS}`,
      [orgId, agentId, id, search, length, new Date()],
    );
    return row!;
  }
}

export function wordsOf(traits: Traits): string {
  return Object.entries(traits)
    .map(([key, values]) => `${key.replaceAll('_', ' ')} ${values.map(({ value }) => value).join(' ')}`)
    .join('\n');
}
