import { isHandle } from '../../core/organization/handle.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import type { FieldProblem } from '../../platform/http/api-error.js';
import { isUuid } from '../../platform/http/page.js';

const EARLIEST = Date.UTC(2000, 0, 1);
/** Milliseconds that a clock may be ahead of ours. */
const AHEAD = 24 * 60 * 60 * 1000;

/** What a well-formed turn may still get wrong. */
export function turnProblems(turn: FinishedTurn, now: Date): FieldProblem[] {
  const started = Date.parse(turn.started_at);
  const ended = Date.parse(turn.ended_at);
  const latest = now.getTime() + AHEAD;
  const problems: FieldProblem[] = [];
  if (started < EARLIEST || started > latest) {
    problems.push({ path: 'started_at', message: 'started_at must lie between the year 2000 and a day from now' });
  }
  if (ended < started) problems.push({ path: 'ended_at', message: 'ended_at must not be before started_at' });
  else if (ended > latest)
    problems.push({ path: 'ended_at', message: 'ended_at must not be more than a day from now' });
  if (!isHandle(turn.agent) && !isUuid(turn.agent)) {
    problems.push({
      path: 'agent',
      message: 'agent must be an id, or a handle of 1..128 characters without control characters',
    });
  }
  return problems;
}
