import { Controller, Get, Param, Query } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { searchTokens } from '../../core/retrieval/tokens.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { EpisodeRecall } from './episode-recall.js';
import { EpisodeStore } from './episode.store.js';
import type { EpisodeView } from './episode.view.js';
import { EpisodesQuery } from './episodes.dto.js';

@Controller('agents/:id/episodes')
@Scope('read')
export class EpisodesController {
  constructor(
    private readonly agents: Agents,
    private readonly episodes: EpisodeStore,
    private readonly recall: EpisodeRecall,
  ) {}

  /** The agent's finished turns, newest first; with `q` those that match it, best first. */
  @Get()
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: EpisodesQuery,
  ): Promise<Page<EpisodeView>> {
    const agent = await this.agents.get(principal.orgId, id);
    const { q, ...filter } = query;
    if (q === undefined) return this.episodes.list(principal.orgId, agent.id, filter);
    const { limit, kind, outcome } = filter;
    const items =
      searchTokens(q, 'query').length > 0
        ? await this.recall.find({
            orgId: principal.orgId,
            agentId: agent.id,
            query: q,
            limit,
            kind,
            outcome,
            includeIdle: true,
          })
        : [];
    return { items, next_cursor: null, total: items.length };
  }

  @Get(':episode_id')
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('episode_id', UuidParam) episodeId: string,
  ): Promise<EpisodeView> {
    const agent = await this.agents.get(principal.orgId, id);
    const episode = await this.episodes.get(principal.orgId, agent.id, episodeId);
    if (!episode) throw new ApiError(404, 'episode.not_found', 'The agent has no such episode.');
    return episode;
  }
}
