import { Injectable } from '@nestjs/common';
import { ScopedSearch } from '../../core/retrieval/scoped-search.js';
import { searchTokens } from '../../core/retrieval/tokens.js';
import type { SenderIdentity } from '../../core/turn/interactions.js';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { CounterpartyIdentities } from './counterparty-identities.js';
import {
  PROFILE_COLUMNS,
  profileView,
  type ObservationView,
  type ObserverRef,
  type ProfileRef,
  type ProfileRow,
  type ProfileView,
} from './counterparty.models.js';
import type { TraitValues } from './trait-patch.js';

/** A name under which the observer knows a subject. */
export interface KnownIdentity {
  platform: string;
  kind: 'external_id' | 'handle';
  value: string;
}

export interface KnownProfile {
  view: ProfileView;
  identities: KnownIdentity[];
}

interface ObservationRow {
  id: string;
  turn_id: string | null;
  traits: TraitValues;
  no_longer: TraitValues;
  observed_at: Date;
}

const OWN = 'org_id = $1 and agent_id = $2 and linked_to is null';

/** The reading side of profiles: always one observer's own. */
@Injectable()
export class CounterpartyReader {
  constructor(
    private readonly database: Database,
    private readonly identities: CounterpartyIdentities,
    private readonly retrieval: ScopedSearch,
  ) {}

  /** Those made last first, an order that no turn changes meanwhile. */
  list({ orgId, agentId }: ObserverRef, request: PageRequest): Promise<Page<ProfileView>> {
    return keysetList<ProfileRow, ProfileView>(this.database, {
      columns: PROFILE_COLUMNS,
      from: 'counterparty_profiles',
      filter: OWN,
      parameters: [orgId, agentId],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view: profileView,
    });
  }

  /** By the words of names and traits, best first. */
  async search({ orgId, agentId }: ObserverRef, query: string, limit: number): Promise<ProfileView[]> {
    if (searchTokens(query, 'query').length === 0) return [];
    const hits = await this.retrieval.search({
      table: 'counterparty_profiles',
      orgId,
      agentId,
      where: { sql: 'linked_to is null', parameters: {} },
      query,
      arms: { lexical: limit },
      limit,
    });
    return this.views(
      { orgId, agentId },
      hits.map(({ id }) => id),
    );
  }

  /** One section of the agent-memory view: those that changed last first. */
  async section({ orgId, agentId }: ObserverRef, limit: number): Promise<{ items: ProfileView[]; total: number }> {
    const rows = await this.database.query<ProfileRow>(
      `select ${PROFILE_COLUMNS} from counterparty_profiles where ${OWN}
       order by last_updated_at desc, id desc limit $3`,
      [orgId, agentId, limit],
    );
    const [count] = await this.database.query<{ total: number }>(
      `select count(*)::int as total from counterparty_profiles where ${OWN}`,
      [orgId, agentId],
    );
    return { items: rows.map(profileView), total: count!.total };
  }

  /** What was observed of the subject, latest first. */
  observations({ orgId, agentId, id }: ProfileRef, request: PageRequest): Promise<Page<ObservationView>> {
    return keysetList<ObservationRow, ObservationView>(this.database, {
      columns: 'id, turn_id, traits, no_longer, observed_at',
      from: 'counterparty_observations',
      filter: 'org_id = $1 and agent_id = $2 and profile_id = $3',
      parameters: [orgId, agentId, id],
      time: 'observed_at',
      request,
      position: (row) => [row.observed_at, row.id],
      view: ({ id: observation, turn_id, traits, no_longer, observed_at }) => ({
        id: observation,
        turn_id,
        traits,
        ...(Object.keys(no_longer).length > 0 ? { no_longer } : {}),
        observed_at: observed_at.toISOString(),
      }),
    });
  }

  /** The profiles of those who are known among the senders, in their order, each once. */
  async ofSenders(observer: ObserverRef, senders: readonly SenderIdentity[]): Promise<ProfileView[]> {
    const ids = await this.identities.profilesOf(observer, senders);
    return this.views(observer, [...new Set(ids.filter((id) => id !== null))]);
  }

  /**
   * All whom the observer knows, with every name that they are known by. Two reads: joined in SQL, without statistics of the
   * tables, the names are read anew for each profile.
   */
  async known({ orgId, agentId }: ObserverRef): Promise<KnownProfile[]> {
    const rows = await this.database.query<ProfileRow>(
      `select ${PROFILE_COLUMNS} from counterparty_profiles where ${OWN} order by created_at, id`,
      [orgId, agentId],
    );
    const names = await this.database.query<KnownIdentity & { profile_id: string }>(
      `select profile_id, platform, kind, value from counterparty_identities where org_id = $1 and agent_id = $2
       order by kind, platform, value`,
      [orgId, agentId],
    );
    const byProfile = new Map<string, KnownIdentity[]>(rows.map(({ id }) => [id, []]));
    for (const { profile_id: id, ...identity } of names) byProfile.get(id)?.push(identity);
    return rows.map((row) => ({ view: profileView(row), identities: byProfile.get(row.id)! }));
  }

  private async views({ orgId, agentId }: ObserverRef, ids: readonly string[]): Promise<ProfileView[]> {
    if (ids.length === 0) return [];
    const rows = await this.database.query<ProfileRow>(
      `select ${PROFILE_COLUMNS} from counterparty_profiles where ${OWN} and id = any($3::uuid[])`,
      [orgId, agentId, ids],
    );
    const byId = new Map(rows.map((row) => [row.id, profileView(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
}
