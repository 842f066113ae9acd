import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { DocRecommendationChange, DocRecommendationsQuery } from './diary.dto.js';
import { DocRecommendations, type DocRecommendation } from './doc-recommendations.js';

@Controller('agents/:id/doc-recommendations')
export class DocRecommendationsController {
  constructor(
    private readonly agents: Agents,
    private readonly recommendations: DocRecommendations,
  ) {}

  /** What the agent thinks the team should be able to read, newest first. */
  @Get()
  @Scope('read')
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: DocRecommendationsQuery,
  ): Promise<Page<DocRecommendation>> {
    const agent = await this.agents.get(principal.orgId, id);
    return this.recommendations.list(principal.orgId, agent.id, query);
  }

  @Patch(':rec_id')
  @Scope('admin')
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('rec_id', UuidParam) recommendationId: string,
    @Body() change: DocRecommendationChange,
  ): Promise<DocRecommendation> {
    const agent = await this.agents.get(principal.orgId, id);
    const changed = await this.recommendations.setStatus(
      { orgId: principal.orgId, agentId: agent.id, id: recommendationId },
      change.status,
    );
    if (!changed) throw new ApiError(404, 'doc_recommendation.not_found', 'The agent has no such recommendation.');
    return changed;
  }
}
