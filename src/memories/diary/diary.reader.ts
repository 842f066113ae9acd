import { Injectable } from '@nestjs/common';
import { ScopedSearch } from '../../core/retrieval/scoped-search.js';
import { unlessFlagged } from '../../core/screening/blocked-text.js';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { DIARY_COLUMNS } from './agent-diary.js';
import { viewOf, type DiaryKind, type DiaryRow, type DiaryView } from './diary.models.js';

export interface DiaryFilter {
  kind?: DiaryKind;
  /** Also what has left retrieval: expired, and superseded by a newer memory. */
  includeExpired?: boolean;
}

/** How many candidates each way of finding them may give. */
export interface PoolLimits {
  vector: number;
  lexical: number;
  recency: number;
  total: number;
}

export interface PoolRequest {
  orgId: string;
  agentId: string;
  query: string | null;
  limits: PoolLimits;
  now: Date;
  kind?: DiaryKind;
  includeExpired?: boolean;
  /** Leaves out what has nothing to do with the query. @default false */
  relatedOnly?: boolean;
  signal?: AbortSignal;
}

const LIVE = `live and (ttl_until is null or ttl_until > $now)`;

/** The reading side of the diary. Nothing here counts as a retrieval. */
@Injectable()
export class DiaryReader {
  constructor(
    private readonly database: Database,
    private readonly retrieval: ScopedSearch,
  ) {}

  async get(orgId: string, agentId: string, id: string): Promise<DiaryView | null> {
    const [row] = await this.database.query<DiaryRow>(
      `select ${DIARY_COLUMNS} from agent_diary where org_id = $1 and agent_id = $2 and id = $3`,
      [orgId, agentId, id],
    );
    return row ? viewOf(row, new Date()) : null;
  }

  /** The cheap check whether there is anything to search at all. */
  async hasLive(orgId: string, agentId: string, now: Date): Promise<boolean> {
    const rows = await this.database.query(
      `select 1 from agent_diary where org_id = $1 and agent_id = $2 and live
         and (ttl_until is null or ttl_until > $3) limit 1`,
      [orgId, agentId, now],
    );
    return rows.length > 0;
  }

  /** Newest first. */
  list(orgId: string, agentId: string, request: PageRequest & DiaryFilter): Promise<Page<DiaryView>> {
    const now = new Date();
    return keysetList<DiaryRow, DiaryView>(this.database, {
      columns: DIARY_COLUMNS,
      from: 'agent_diary',
      filter: `org_id = $1 and agent_id = $2 and ($3::text is null or kind = $3)
        and ($4 or (live and (ttl_until is null or ttl_until > $5)))`,
      parameters: [orgId, agentId, request.kind ?? null, request.includeExpired ?? false, now],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view: (row) => viewOf(row, now),
    });
  }

  /** One section of the agent-memory view: newest first, expired ones flagged, superseded ones left out. */
  async section(
    orgId: string,
    agentId: string,
    kind: DiaryKind,
    limit: number,
  ): Promise<{ items: DiaryView[]; live: number }> {
    const now = new Date();
    const rows = await this.database.query<DiaryRow>(
      `select ${DIARY_COLUMNS} from agent_diary where org_id = $1 and agent_id = $2 and kind = $3
         and superseded_by is null and (live or ttl_until <= $4)
       order by created_at desc, id desc limit $5`,
      [orgId, agentId, kind, now, limit],
    );
    const [count] = await this.database.query<{ live: number }>(
      `select count(*)::int as live from agent_diary where org_id = $1 and agent_id = $2 and kind = $3 and live
         and (ttl_until is null or ttl_until > $4)`,
      [orgId, agentId, kind, now],
    );
    return { items: rows.map((row) => viewOf(row, now)), live: count!.live };
  }

  /** Live memories for `query`, best first; without a query the newest. `now` decides what has expired. */
  async pool(wanted: PoolRequest): Promise<DiaryView[]> {
    return (await this.ranked(wanted)).map((row) => viewOf(row, wanted.now));
  }

  /** The same for a prompt, the auxiliary model's too: of what is flagged by now stands `[blocked]`. */
  async promptPool(wanted: PoolRequest): Promise<DiaryView[]> {
    return (await this.ranked(wanted)).map((row) => {
      const view = viewOf(row, wanted.now);
      return row.operator_released ? view : { ...view, content: unlessFlagged(view.content) };
    });
  }

  private async ranked(wanted: PoolRequest): Promise<DiaryRow[]> {
    const { orgId, agentId, query, limits, now, signal } = wanted;
    const hits = await this.retrieval.search<DiaryRow>({
      table: 'agent_diary',
      columns: DIARY_COLUMNS,
      orgId,
      agentId,
      where: {
        sql: `($kind::text is null or kind = $kind) and ($expired::boolean or (${LIVE}))`,
        parameters: { kind: wanted.kind ?? null, expired: wanted.includeExpired ?? false, now },
      },
      query,
      arms: { vector: limits.vector, lexical: limits.lexical, recency: limits.recency },
      limit: limits.total,
      relatedOnly: wanted.relatedOnly,
      signal,
    });
    const missing = hits.filter(({ row }) => !row).map(({ id }) => id);
    const rows = missing.length > 0 ? await this.byIds(orgId, agentId, missing) : [];
    const byId = new Map(rows.map((row) => [row.id, row]));
    return hits.flatMap(({ id, row }) => row ?? byId.get(id) ?? []);
  }

  private byIds(orgId: string, agentId: string, ids: readonly string[]): Promise<DiaryRow[]> {
    return this.database.query<DiaryRow>(
      `select ${DIARY_COLUMNS} from agent_diary where org_id = $1 and agent_id = $2 and id = any($3::uuid[])`,
      [orgId, agentId, ids],
    );
  }
}
