import type { ReviewOutcome } from '../../core/turn/turn.models.js';

export interface EpisodeRow {
  id: string;
  started_at: Date;
  kind: 'raw' | 'compacted';
  count: number;
  task_id: string | null;
  turn_id: string | null;
  task_summary: string;
  plan_summary: string;
  tool_sequence: string[];
  skills_used: string[];
  review_outcome: ReviewOutcome;
  ended_at: Date;
  duration_ms: string;
  common_task_pattern: string | null;
  common_outcome: string | null;
  success_rate: number | null;
  subjects_involved: string[];
  notable_patterns: string | null;
  exemplar_turn_ids: string[];
}

/** The fields of `EpisodeRow`: vectors and search columns stay in the database. */
export const EPISODE_COLUMNS = `id, started_at, kind, count, task_id, turn_id, task_summary, plan_summary, tool_sequence,
  skills_used, review_outcome, ended_at, duration_ms, common_task_pattern, common_outcome, success_rate,
  subjects_involved, notable_patterns, exemplar_turn_ids`;

export interface EpisodeView {
  id: string;
  kind: 'raw' | 'compacted';
  count: number;
  task_id: string | null;
  turn_id: string | null;
  task_summary: string;
  plan_summary: string;
  tool_sequence: string[];
  skills_used: string[];
  review_outcome: ReviewOutcome;
  started_at: string;
  ended_at: string;
  duration_ms: number;
  common_task_pattern?: string | null;
  common_outcome?: string | null;
  success_rate?: number | null;
  subjects_involved?: string[];
  notable_patterns?: string | null;
  exemplar_turn_ids?: string[];
}

export function viewOf(row: EpisodeRow): EpisodeView {
  return {
    id: row.id,
    kind: row.kind,
    count: row.count,
    task_id: row.task_id,
    turn_id: row.turn_id,
    task_summary: row.task_summary,
    plan_summary: row.plan_summary,
    tool_sequence: row.tool_sequence,
    skills_used: row.skills_used,
    review_outcome: row.review_outcome,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at.toISOString(),
    duration_ms: Number(row.duration_ms),
    ...(row.kind === 'compacted'
      ? {
          common_task_pattern: row.common_task_pattern,
          common_outcome: row.common_outcome,
          success_rate: row.success_rate,
          subjects_involved: row.subjects_involved,
          notable_patterns: row.notable_patterns,
          exemplar_turn_ids: row.exemplar_turn_ids,
        }
      : {}),
  };
}
