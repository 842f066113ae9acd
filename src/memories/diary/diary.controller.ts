import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Agents } from '../../core/organization/agents.js';
import { searchTokens } from '../../core/retrieval/tokens.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import type { Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { DiaryEditor, type EditResult } from './diary.editor.js';
import { DiaryEntryChange, DiaryEntryDraft, DiaryQuery } from './diary.dto.js';
import type { DiaryView } from './diary.models.js';
import { DiaryReader } from './diary.reader.js';

/** A flagged write waits in quarantine. */
export interface Quarantined {
  quarantine_id: string;
  reason: string;
}

@Controller('agents/:id/diary')
export class DiaryController {
  constructor(
    private readonly agents: Agents,
    private readonly reader: DiaryReader,
    private readonly editor: DiaryEditor,
  ) {}

  /** The agent's memories, newest first; with `q` those that match it, best first. */
  @Get()
  @Scope('read')
  async list(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: DiaryQuery,
  ): Promise<Page<DiaryView>> {
    return this.agents.beside(principal.orgId, id, (agentId) =>
      query.q === undefined
        ? this.reader.list(principal.orgId, agentId, { ...query, includeExpired: query.include_expired })
        : this.search({ orgId: principal.orgId, agentId }, query.q, query),
    );
  }

  private async search(
    { orgId, agentId }: { orgId: string; agentId: string },
    q: string,
    { kind, include_expired: includeExpired, limit }: DiaryQuery,
  ): Promise<Page<DiaryView>> {
    if (searchTokens(q, 'query').length === 0) return { items: [], next_cursor: null, total: 0 };
    const items = await this.reader.pool({
      orgId,
      agentId,
      query: q,
      limits: { vector: limit, lexical: limit, recency: 0, total: limit },
      now: new Date(),
      kind,
      includeExpired,
      relatedOnly: true,
    });
    return { items, next_cursor: null, total: items.length };
  }

  /** 201 with the new memory, 200 with the equal one that was there, 202 where it was flagged. */
  @Post()
  @Scope('admin')
  @ApiResponse({ status: 200, description: 'The equal memory that was there.' })
  @ApiResponse({ status: 202, description: 'The write was flagged and waits in quarantine.' })
  async create(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() draft: DiaryEntryDraft,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiaryView | Quarantined> {
    const agent = await this.agents.get(principal.orgId, id);
    return answer(await this.editor.create({ orgId: principal.orgId, agentId: agent.id }, draft), reply);
  }

  @Patch(':entry_id')
  @Scope('admin')
  @ApiResponse({ status: 202, description: 'The write was flagged and waits in quarantine.' })
  async change(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('entry_id', UuidParam) entryId: string,
    @Body() change: DiaryEntryChange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiaryView | Quarantined> {
    const agent = await this.agents.get(principal.orgId, id);
    return answer(await this.editor.change({ orgId: principal.orgId, agentId: agent.id, id: entryId }, change), reply);
  }

  @Delete(':entry_id')
  @Scope('admin')
  @HttpCode(204)
  async remove(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('entry_id', UuidParam) entryId: string,
  ): Promise<void> {
    const agent = await this.agents.get(principal.orgId, id);
    await this.editor.remove({ orgId: principal.orgId, agentId: agent.id, id: entryId });
  }
}

function answer(result: EditResult, reply: FastifyReply): DiaryView | Quarantined {
  if (result.status === 'quarantined') {
    reply.status(202);
    return { quarantine_id: result.quarantineId, reason: result.reason };
  }
  reply.status(result.status === 'created' ? 201 : 200);
  return result.entry;
}
