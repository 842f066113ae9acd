import { describe, type SenderIdentity } from '../../core/turn/interactions.js';
import type { Traits } from './trait-folding.js';

/** One agent as the observer. */
export interface ObserverRef {
  orgId: string;
  agentId: string;
}

export interface ProfileRef extends ObserverRef {
  id: string;
}

/** Whom a turn brought the observer together with. */
export interface Encounter extends ObserverRef {
  sender: SenderIdentity & { name: string };
  turnId: string;
  /** Work key of the turn, else its id. */
  triggerKey: string;
  /** End of the turn, or now where that lies ahead. */
  at: Date;
}

export interface ProfileRow {
  id: string;
  subject_platform: string;
  subject_external_id: string;
  subject_handle: string;
  subject_name: string;
  name_source: 'turn' | 'operator';
  name_seen_at: Date | null;
  traits: Traits;
  interaction_count: number;
  first_seen_at: Date;
  last_updated_at: Date;
  last_corroborated_at: Date | null;
  created_at: Date;
}

export const PROFILE_COLUMNS = `id, subject_platform, subject_external_id, subject_handle, subject_name, name_source,
  name_seen_at, traits, interaction_count, first_seen_at, last_updated_at, last_corroborated_at, created_at`;

/** A profile as every route shows it. */
export interface ProfileView {
  id: string;
  subject_label: string;
  subject_handle: string | null;
  subject_external_id: string | null;
  subject_platform: string | null;
  subject_name: string | null;
  traits: Traits;
  interaction_count: number;
  first_seen_at: string;
  last_updated_at: string;
  last_corroborated_at: string | null;
}

export interface ObservationView {
  id: string;
  /** Null for an operator's edit. */
  turn_id: string | null;
  traits: Record<string, string[]>;
  /** Values that were said to hold no longer; only where there are any. */
  no_longer?: Record<string, string[]>;
  observed_at: string;
}

export function profileView(row: ProfileRow): ProfileView {
  return {
    id: row.id,
    subject_label: labelOfProfile(row),
    subject_handle: row.subject_handle || null,
    subject_external_id: row.subject_external_id || null,
    subject_platform: row.subject_platform || null,
    subject_name: row.subject_name || null,
    traits: inOrderOfWeight(row.traits),
    interaction_count: row.interaction_count,
    first_seen_at: row.first_seen_at.toISOString(),
    last_updated_at: row.last_updated_at.toISOString(),
    last_corroborated_at: row.last_corroborated_at?.toISOString() ?? null,
  };
}

/** Name, else handle, else `platform:external_id`. */
function labelOfProfile(row: ProfileRow): string {
  return row.subject_name || row.subject_handle || describeProfile(row);
}

/** `Name (platform:external_id)`, as a sender is described. */
export function describeProfile(
  row: Pick<ProfileRow, 'subject_platform' | 'subject_external_id' | 'subject_handle' | 'subject_name'>,
): string {
  return describe({
    platform: row.subject_platform,
    external_id: row.subject_external_id,
    handle: row.subject_handle,
    display_name: row.subject_name,
  });
}

/** A `jsonb` has no order of keys: those seen most stand first, then those seen last. */
function inOrderOfWeight(traits: Traits): Traits {
  const weigh = (key: string): [number, string] => {
    const values = traits[key]!;
    return [
      Math.max(...values.map(({ count }) => count)),
      values
        .map((value) => value.last_seen_at)
        .sort()
        .at(-1)!,
    ];
  };
  const keys = Object.keys(traits).map((key) => ({ key, weight: weigh(key) }));
  keys.sort(
    (a, b) =>
      b.weight[0] - a.weight[0] ||
      (a.weight[1] === b.weight[1] ? (a.key < b.key ? -1 : 1) : a.weight[1] < b.weight[1] ? 1 : -1),
  );
  return Object.fromEntries(
    keys.map(({ key }) => [
      key,
      traits[key]!.map(({ value, count, last_seen_at }) => ({ value, count, last_seen_at })),
    ]),
  );
}
