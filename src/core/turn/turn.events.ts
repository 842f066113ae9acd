import type { FinishedTurn, Interaction } from './turn.models.js';

declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** A finished turn was stored. */
    'turn.completed': {
      task_id: string | null;
      started_at: string;
      ended_at: string;
      duration_ms: number;
      task_summary: string;
      plan_summary: string;
      plan_decision: FinishedTurn['plan']['decision'];
      tool_sequence: string[];
      plan_tool_sequence: string[];
      skills_used: string[];
      review_outcome: FinishedTurn['review_outcome'];
      iterations: number;
      /** Those with an identifiable sender; what they said stands in `task_summary`. */
      interactions: Omit<Interaction, 'body'>[];
    };
  }
}
