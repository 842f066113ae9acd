import { Injectable } from '@nestjs/common';
import { ScopedSearch } from '../../core/retrieval/scoped-search.js';
import type { ReviewOutcome } from '../../core/turn/turn.models.js';
import { EpisodeStore } from './episode.store.js';
import type { EpisodeView } from './episode.view.js';

export interface RecallRequest {
  orgId: string;
  agentId: string;
  query: string;
  limit: number;
  outcome?: ReviewOutcome;
  kind?: 'raw' | 'compacted';
  /** A turn under way does not recall itself. */
  exceptTurnId?: string;
  /** Also turns that were skipped or taught nothing; they never surface in recall. @default false */
  includeIdle?: boolean;
  signal?: AbortSignal;
}

/** Finds an agent's own past turns by meaning and by words, raw and compacted in one search. */
@Injectable()
export class EpisodeRecall {
  constructor(
    private readonly retrieval: ScopedSearch,
    private readonly episodes: EpisodeStore,
  ) {}

  /** Best first, at most `limit`; none where no turn has to do with the query. */
  async find(request: RecallRequest): Promise<EpisodeView[]> {
    const { orgId, agentId, query, limit, signal } = request;
    const hits = await this.retrieval.search({
      table: 'episodes',
      orgId,
      agentId,
      where: {
        sql: `($idle::boolean or engaged) and ($outcome::text is null or review_outcome = $outcome)
          and ($kind::text is null or kind = $kind) and ($except::uuid is null or turn_id is distinct from $except)`,
        parameters: {
          idle: request.includeIdle ?? false,
          outcome: request.outcome ?? null,
          kind: request.kind ?? null,
          except: request.exceptTurnId ?? null,
        },
      },
      query,
      arms: { vector: limit * 4, lexical: limit * 4 },
      limit,
      relatedOnly: true,
      signal,
    });
    return this.episodes.byIds(
      orgId,
      agentId,
      hits.map((hit) => hit.id),
    );
  }
}
