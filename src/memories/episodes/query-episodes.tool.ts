import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition } from '../../core/turn/tool-arguments.js';
import { renderEpisodes } from './episode-lines.js';
import { EpisodeRecall } from './episode-recall.js';
import { EpisodeSummary } from './episode-summary.js';
import type { EpisodeView } from './episode.view.js';

const schema = z.object({
  query: z
    .string()
    .refine((query) => query.trim() !== '', 'query must not be empty')
    .describe('What the task is about, in your own words.'),
  limit: z.int().min(1).max(20).default(5).describe('How many past turns to look at.'),
  outcome_filter: z.enum(['done', 'failed', 'self_iterate']).optional().describe('Only turns that ended like this.'),
});

/** Search of the agent's own past (mission, "EpisodicMemory + query_episodes"). */
@Injectable()
export class QueryEpisodesTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'query_episodes',
    description:
      'Use when a task may resemble one that you have done before: finds your own past turns and how they ended.',
    arguments: schema,
  });
  readonly phases = ['plan'] as const;

  constructor(
    private readonly recall: EpisodeRecall,
    private readonly summary: EpisodeSummary,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const { query, limit, outcome_filter: outcome } = read.value;
    const found = await this.recall.find({
      orgId: call.orgId,
      agentId: call.agent.id,
      query,
      limit,
      outcome,
      exceptTurnId: call.turnId,
      signal: call.signal,
    });
    const episodes = found.map(payloadOf);
    if (episodes.length === 0) {
      return { output: 'There are no prior episodes that match.', is_error: false, data: { episodes } };
    }
    const summary = await this.summary.of({ ...call, question: query, episodes: found });
    return { output: renderEpisodes(found, summary), is_error: false, data: { episodes } };
  }
}

/** The fields of the reference engine, section 8. */
function payloadOf(episode: EpisodeView): Record<string, unknown> {
  if (episode.kind === 'compacted') {
    const { kind, count, tool_sequence, started_at, ended_at } = episode;
    const { common_task_pattern, common_outcome, success_rate, subjects_involved } = episode;
    const { notable_patterns, exemplar_turn_ids } = episode;
    return {
      kind,
      count,
      common_task_pattern,
      common_outcome,
      success_rate,
      subjects_involved,
      notable_patterns,
      tool_sequence,
      period_start: started_at,
      period_end: ended_at,
      exemplar_turn_ids,
    };
  }
  const { kind, turn_id, task_summary, plan_summary, tool_sequence } = episode;
  const { skills_used, review_outcome, duration_ms, ended_at } = episode;
  return {
    kind,
    turn_id,
    task_summary,
    plan_summary,
    tool_sequence,
    skills_used,
    review_outcome,
    duration_ms,
    ended_at,
  };
}
