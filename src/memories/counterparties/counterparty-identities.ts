import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { SenderIdentity } from '../../core/turn/interactions.js';
import { Database } from '../../platform/database/database.js';
import type { Encounter, ObserverRef } from './counterparty.models.js';

type IdentityKind = 'external_id' | 'handle';

interface IdentityRow {
  identity_key: string;
  profile_id: string;
  seen_at: Date;
  /** Whether its profile is known by an external id of the same platform. */
  has_external_id: boolean;
}

/**
 * Under which names an observer meets whom. An external id of a platform belongs to one profile. A handle of a platform
 * does too, to that of its last bearer, and it finds the profile of a sender who is not known to have another external id
 * there. Two profiles are never merged here, whatever a turn says: only an operator links them.
 */
@Injectable()
export class CounterpartyIdentities {
  constructor(private readonly database: Database) {}

  /** The profile of each sender; null where the observer has none. */
  async profilesOf(observer: ObserverRef, senders: readonly SenderIdentity[]): Promise<(string | null)[]> {
    const rows = await this.rowsOf(observer, senders);
    return senders.map((sender) => profileOf(rows, sender));
  }

  /** Writes down that the profile's subject has the names of the encounter; joins the running transaction. */
  async claim(encounter: Encounter, profileId: string): Promise<void> {
    const { sender } = encounter;
    const rows = await this.rowsOf(encounter, [sender]);
    for (const kind of ['external_id', 'handle'] as const) {
      const value = kind === 'handle' ? sender.handle : sender.externalId;
      if (value === '') continue;
      const held = rows.get(keyOf(sender.platform, kind, value));
      // Only one who certainly is somebody else gives a handle up, and only to a later bearer.
      if (held && held.profile_id !== profileId && !(held.has_external_id && held.seen_at <= encounter.at)) continue;
      await this.write(encounter, profileId, { kind, value });
    }
  }

  private async write(
    { orgId, agentId, sender, at }: Encounter,
    profileId: string,
    { kind, value }: { kind: IdentityKind; value: string },
  ): Promise<void> {
    await this.database.query(
      `insert into counterparty_identities as known (org_id, agent_id, identity_key, profile_id, platform, kind, value, seen_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (org_id, agent_id, identity_key) do update
         set profile_id = excluded.profile_id, seen_at = greatest(known.seen_at, excluded.seen_at)`,
      [orgId, agentId, keyOf(sender.platform, kind, value), profileId, sender.platform, kind, value, at],
    );
  }

  private async rowsOf(
    { orgId, agentId }: ObserverRef,
    senders: readonly SenderIdentity[],
  ): Promise<Map<string, IdentityRow>> {
    const keys = senders.flatMap(({ platform, externalId, handle }) => [
      ...(externalId ? [keyOf(platform, 'external_id', externalId)] : []),
      ...(handle ? [keyOf(platform, 'handle', handle)] : []),
    ]);
    const rows = await this.database.query<IdentityRow>(
      `select identity_key, profile_id, seen_at, exists (
           select from counterparty_identities other where other.profile_id = known.profile_id
             and other.platform = known.platform and other.kind = 'external_id') as has_external_id
       from counterparty_identities known
       where org_id = $1 and agent_id = $2 and identity_key = any($3::text[])`,
      [orgId, agentId, keys],
    );
    return new Map(rows.map((row) => [row.identity_key, row]));
  }
}

function profileOf(rows: ReadonlyMap<string, IdentityRow>, sender: SenderIdentity): string | null {
  const { platform, externalId, handle } = sender;
  const byId = externalId ? rows.get(keyOf(platform, 'external_id', externalId)) : undefined;
  if (byId) return byId.profile_id;
  const byHandle = handle ? rows.get(keyOf(platform, 'handle', handle)) : undefined;
  return byHandle && !(externalId && byHandle.has_external_id) ? byHandle.profile_id : null;
}

export function keyOf(platform: string, kind: IdentityKind, value: string): string {
  return createHash('sha256')
    .update(JSON.stringify([platform, kind, value]))
    .digest('hex');
}
