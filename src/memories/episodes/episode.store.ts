import { Injectable } from '@nestjs/common';
import { openingTokens } from '../../core/retrieval/opening.js';
import { searchColumns } from '../../core/retrieval/search-columns.js';
import type { AgentRef } from '../../core/turn/extension-points.js';
import type { PlanDecision, ReviewOutcome } from '../../core/turn/turn.models.js';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { EPISODE_COLUMNS, viewOf, type EpisodeRow, type EpisodeView } from './episode.view.js';

/** What has to be settled before the transaction: the text and its vector. */
export interface PreparedEpisode {
  taskSummary: string;
  planSummary: string;
  embedding: number[] | null;
}

export interface EpisodeDraft extends PreparedEpisode {
  id: string;
  orgId: string;
  agent: AgentRef;
  turnId: string;
  taskId: string | null;
  conversationId: string | null;
  planDecision: PlanDecision;
  /** False for turns that never surface in recall or clusters. */
  engaged: boolean;
  toolSequence: string[];
  skillsUsed: string[];
  reviewOutcome: ReviewOutcome;
  startedAt: Date;
  endedAt: Date;
  workKey: string;
}

export interface EpisodeFilter {
  kind?: 'raw' | 'compacted';
  outcome?: ReviewOutcome;
}

/** One row a finished turn (mission, "EpisodicMemory"), and later one a compacted cluster. */
@Injectable()
export class EpisodeStore {
  constructor(
    private readonly database: Database,
    private readonly embeddings: Embeddings,
  ) {}

  /** Embeds outside of any transaction; an episode whose vector fails is stored without, for the re-embedding job. */
  async prepare(texts: readonly { taskSummary: string; planSummary: string }[]): Promise<PreparedEpisode[]> {
    const vectors = await this.embeddings.embedMany(texts.map(episodeText));
    return texts.map((text, index) => ({ ...text, embedding: vectors[index] ?? null }));
  }

  async insert(episode: EpisodeDraft): Promise<void> {
    const { search, length } = searchColumns(episodeText(episode));
    await this.database.query(
      `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, turn_id, task_id,
         conversation_id, kind, count, task_summary, plan_summary, plan_decision, engaged, tool_sequence, skills_used,
         review_outcome, ended_at, duration_ms, work_key, subjects_involved, exemplar_turn_ids, is_exemplar,
         source_turn_ids, search, search_length, opening, embedding, embedding_model, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'raw', 1, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16, $17, $18,
         $19, '[]', '[]', false, $20::jsonb, to_tsvector('english', $21), $22, $23, $24::vector, $25, $26)`,
      [
        episode.id,
        episode.startedAt,
        episode.orgId,
        episode.agent.id,
        episode.agent.handle,
        episode.agent.role,
        episode.turnId,
        episode.taskId,
        episode.conversationId,
        episode.taskSummary,
        episode.planSummary,
        episode.planDecision,
        episode.engaged,
        JSON.stringify(episode.toolSequence),
        JSON.stringify(episode.skillsUsed),
        episode.reviewOutcome,
        episode.endedAt,
        episode.endedAt.getTime() - episode.startedAt.getTime(),
        episode.workKey,
        JSON.stringify([episode.turnId]),
        search,
        length,
        openingTokens(episode.taskSummary).join(' '),
        episode.embedding && JSON.stringify(episode.embedding),
        episode.embedding && this.embeddings.model,
        new Date(),
      ],
    );
  }

  async deleteOfTurn(orgId: string, turnId: string): Promise<void> {
    await this.database.query(`delete from episodes where org_id = $1 and turn_id = $2`, [orgId, turnId]);
  }

  async get(orgId: string, agentId: string, id: string): Promise<EpisodeView | null> {
    const [row] = await this.database.query<EpisodeRow>(
      `select ${EPISODE_COLUMNS} from episodes where org_id = $1 and agent_id = $2 and id = $3`,
      [orgId, agentId, id],
    );
    return row ? viewOf(row) : null;
  }

  /** In the order of `ids`; ids of other agents are left out. */
  async byIds(orgId: string, agentId: string, ids: readonly string[]): Promise<EpisodeView[]> {
    const rows = await this.database.query<EpisodeRow>(
      `select ${EPISODE_COLUMNS} from episodes where org_id = $1 and agent_id = $2 and id = any($3::uuid[])`,
      [orgId, agentId, ids],
    );
    const byId = new Map(rows.map((row) => [row.id, viewOf(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** Newest first by the time they started. */
  list(orgId: string, agentId: string, request: PageRequest & EpisodeFilter): Promise<Page<EpisodeView>> {
    return keysetList<EpisodeRow, EpisodeView>(this.database, {
      columns: EPISODE_COLUMNS,
      from: 'episodes',
      filter: `org_id = $1 and agent_id = $2 and ($3::text is null or kind = $3)
        and ($4::text is null or review_outcome = $4)`,
      parameters: [orgId, agentId, request.kind ?? null, request.outcome ?? null],
      time: 'started_at',
      request,
      position: (row) => [row.started_at, row.id],
      view: viewOf,
    });
  }
}

const SEPARATOR = ' | ';

/** What is embedded and searched: task and plan (reference engine, section 8). */
export function episodeText(episode: { taskSummary: string; planSummary: string }): string {
  return [episode.taskSummary, episode.planSummary].filter((part) => part !== '').join(SEPARATOR);
}

/** The same in SQL; of a compacted row it is the pattern. */
export const EPISODE_TEXT_SQL = `(case when kind = 'compacted' then coalesce(common_task_pattern, '')
  else concat_ws('${SEPARATOR}', nullif(task_summary, ''), nullif(plan_summary, '')) end)`;
