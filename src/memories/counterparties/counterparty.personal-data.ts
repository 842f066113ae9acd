import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ErasedSubject } from '../../core/personal-data/erased-subject.js';
import { grouped } from '../../core/personal-data/grouped.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import type {
  ErasureCounts,
  ErasureScope,
  ExportLine,
  ImportContext,
  ImportOutcome,
} from '../../core/personal-data/personal-data.models.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { Screening } from '../../core/screening/screening.js';
import { Database } from '../../platform/database/database.js';
import { keyOf } from './counterparty-identities.js';
import { counterpartyTables } from './counterparty.tables.js';

interface IdentityRow {
  profile_id: string;
  platform: string;
  kind: 'external_id' | 'handle';
  value: string;
}

interface NamedRow {
  subject_platform: string;
  subject_external_id: string;
  subject_handle: string;
  subject_name: string;
}

/** What agents know of people. A profile goes with all the identities that were linked in it, which are erased too. */
@Injectable()
export class CounterpartyPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    private readonly store: Database,
    private readonly parts: PersonalDataParts,
    screening: Screening,
    quarantine: QuarantineStore,
  ) {
    super(store, counterpartyTables(store), { boundary: { screening, quarantine } });
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  override identify = async (orgId: string, subject: ErasedSubject): Promise<void> => {
    const ids = await this.profilesOf(orgId, subject);
    const identities = await this.store.query<IdentityRow>(
      `select profile_id, platform, kind, value from counterparty_identities
       where org_id = $1 and profile_id = any($2::uuid[])`,
      [orgId, ids],
    );
    for (const { platform, kind, value } of identities) subject.learn({ platform, [kind]: value });
    const profiles = await this.store.query<NamedRow>(
      `select subject_platform, subject_external_id, subject_handle, subject_name from counterparty_profiles
       where org_id = $1 and (id = any($2::uuid[]) or linked_to = any($2::uuid[]))`,
      [orgId, ids],
    );
    for (const row of profiles) {
      const { subject_platform: platform, subject_external_id: external_id, subject_handle: handle } = row;
      subject.learn({ platform, external_id, handle }, row.subject_name);
    }
  };

  override async erase(scope: ErasureScope): Promise<ErasureCounts> {
    if ('agent' in scope) return super.erase(scope);
    const { orgId, subject } = scope;
    const removed = await this.remove(orgId, await this.profilesOf(orgId, subject));
    const counts = await super.erase(scope);
    return Object.fromEntries(Object.entries(counts).map(([table, rows]) => [table, rows + (removed[table] ?? 0)]));
  }

  /** A further name of a profile that is there finds it from now on. */
  override async import(context: ImportContext, line: ExportLine): Promise<ImportOutcome> {
    const outcome = await super.import(context, line);
    if (line.type !== 'counterparty_identity' || outcome.status !== 'imported') return outcome;
    const { search, length } = searchColumns(line.value as string);
    await this.store.query(
      `update counterparty_profiles set search = search || to_tsvector('english', $4), search_length = search_length + $5
       where org_id = $1 and agent_id = $2 and id = $3 and not (search @@ plainto_tsquery('english', $4))`,
      [context.orgId, context.agentId, context.idOf(line.profile_id as string), search, length],
    );
    return outcome;
  }

  /** Of all observers. One that is met by a handle alone is the subject's where no external id says that it is another's. */
  private async profilesOf(orgId: string, subject: ErasedSubject): Promise<string[]> {
    const { externalIds, handles } = subject.identities();
    const keys = [
      ...externalIds.map(([platform, value]) => keyOf(platform, 'external_id', value)),
      ...handles.map(([platform, value]) => keyOf(platform, 'handle', value)),
    ];
    const rows = await this.store.query<IdentityRow>(
      `select profile_id, platform, kind, value from counterparty_identities
       where org_id = $1 and profile_id in (
         select profile_id from counterparty_identities where org_id = $1 and identity_key = any($2::text[]))`,
      [orgId, keys],
    );
    const isTheirs = (row: IdentityRow, all: readonly IdentityRow[]): boolean => {
      if (row.kind === 'external_id') return subject.is({ platform: row.platform, external_id: row.value });
      const known = all.find(({ kind, platform }) => kind === 'external_id' && platform === row.platform);
      return subject.is({ platform: row.platform, external_id: known?.value, handle: row.value });
    };
    return [...grouped(rows, (row) => row.profile_id)]
      .filter(([, all]) => all.some((row) => isTheirs(row, all)))
      .map(([id]) => id);
  }

  private async remove(orgId: string, ids: readonly string[]): Promise<ErasureCounts> {
    const counts: ErasureCounts = {};
    for (const table of ['counterparty_interactions', 'counterparty_observations', 'counterparty_identities']) {
      counts[table] = await this.count(
        `delete from ${table} where org_id = $1 and profile_id = any($2::uuid[]) returning 1`,
        orgId,
        ids,
      );
    }
    counts.counterparty_profiles = await this.count(
      `delete from counterparty_profiles
       where org_id = $1 and (id = any($2::uuid[]) or linked_to = any($2::uuid[])) returning 1`,
      orgId,
      ids,
    );
    return counts;
  }

  private async count(deletion: string, orgId: string, ids: readonly string[]): Promise<number> {
    const [row] = await this.store.query<{ count: number }>(
      `with gone as (${deletion}) select count(*)::int as count from gone`,
      [orgId, ids],
    );
    return row!.count;
  }
}
