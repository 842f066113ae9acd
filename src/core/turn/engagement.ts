import type { FinishedTurn } from './turn.models.js';

export type NotEngagedReason = 'plan_skip' | 'not_engaged';

/**
 * Why a turn taught nothing: its plan was to skip, or it neither called a tool nor was told anything. Null where
 * the agent engaged; a preference told in a turn without tools is worth learning.
 */
export function notEngagedReason(
  turn: Pick<FinishedTurn, 'plan' | 'tool_sequence' | 'plan_tool_sequence' | 'interactions'>,
): NotEngagedReason | null {
  if (turn.plan.decision === 'skip') return 'plan_skip';
  const calledTools = turn.tool_sequence.length > 0 || turn.plan_tool_sequence.length > 0;
  const wasTold = turn.interactions.some((interaction) => (interaction.body ?? '').trim() !== '');
  return calledTools || wasTold ? null : 'not_engaged';
}
