import { Injectable, Logger } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { Organizations } from '../../core/organization/organizations.js';
import type {
  AgentRef,
  BlockReason,
  BlockResult,
  RoleContext,
  TraceContext,
} from '../../core/turn/extension-points.js';
import { NO_MATCH_HINT, renderKnowledge, THIN_TRIGGER_HINT } from './knowledge-lines.js';
import { KnowledgeQueryWriter } from './knowledge-query.js';
import { type KnowledgeHit, type KnowledgeReader, KnowledgeSearcher } from './knowledge.models.js';

/** Pages that a block may show. */
const HIT_LIMIT = 6;

export interface KnowledgeRequest extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  /** What the turn is about: what was said at its start, or what has been planned since. */
  task: string;
  /** The thin-trigger gate: `task` is a mere pointer, and nothing is spent on it. */
  isThin: boolean;
}

/**
 * Pages that bear on a task: a query by the auxiliary model, one live search, titles and excerpts (mission,
 * "Relevant-knowledge prefetch").
 */
@Injectable()
export class RelevantKnowledge {
  private readonly log = new Logger(RelevantKnowledge.name);

  constructor(
    private readonly searcher: KnowledgeSearcher,
    private readonly queries: KnowledgeQueryWriter,
    private readonly organizations: Organizations,
    private readonly agents: Agents,
  ) {}

  async find(request: KnowledgeRequest, signal: AbortSignal): Promise<BlockResult> {
    if (request.task.trim() === '') return empty('nothing_to_match');
    if (this.searcher.backend === 'none') return empty('not_configured');
    const reader = await this.readerOf(request);
    if (!this.searcher.canSearch(reader)) return empty('not_configured');
    if (request.isThin) return hint(THIN_TRIGGER_HINT, 'hint_thin_trigger');
    const written = await this.queries.write({ ...request, signal });
    if (written.status !== 'query') return empty(written.status);
    const hits = await this.search(request, { reader, text: written.query, signal });
    if (hits === null) return empty('search_failed');
    const { text, count } = renderKnowledge(hits);
    if (count === 0) return hint(NO_MATCH_HINT, 'hint_no_match');
    return { text, selection_count: count, reason: 'selected' };
  }

  private async readerOf({ orgId, agent }: KnowledgeRequest): Promise<KnowledgeReader> {
    const [organization, credentials] = await Promise.all([
      this.organizations.get(orgId),
      this.agents.credentials(orgId, agent.id),
    ]);
    return { orgId, scope: organization.knowledge, credentials };
  }

  /** Null where the knowledge base gave no usable answer. */
  private async search(
    { turnId, agent }: KnowledgeRequest,
    { reader, text, signal }: { reader: KnowledgeReader; text: string; signal: AbortSignal },
  ): Promise<KnowledgeHit[] | null> {
    try {
      return await this.searcher.search(reader, { text, limit: HIT_LIMIT, signal });
    } catch (error) {
      this.log.warn(`no knowledge for turn ${turnId} of ${agent.handle}: ${String(error)}`);
      return null;
    }
  }
}

function empty(reason: BlockReason): BlockResult {
  return { text: '', selection_count: 0, reason };
}

function hint(text: string, reason: BlockReason): BlockResult {
  return { text, selection_count: 0, reason };
}
