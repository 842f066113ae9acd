import { z } from 'zod';
import { fence, FENCE_RULE, oneLine } from '../../core/auxiliary/fence.js';
import { unlessFlagged } from '../../core/screening/blocked-text.js';
import type { StoredTurn } from '../../core/turn/extension-points.js';
import { clipText } from '../../platform/text/storable-text.js';
import type { SkillRow } from './skill.models.js';

/** UTF-16 code units of the task, and of the plan; the body of the skill is never cut. */
const TASK_LIMIT = 4_000;
const PLAN_LIMIT = 2_000;

/** What the provider is asked for. */
export const skillRefinerFormat = z.object({
  note: z.string().nullish().describe('One sentence that the skill does not say yet; null where there is none.'),
});

/** What is understood. */
export const skillRefinerAnswer = z.object({ note: z.string().nullish() });

export const SKILL_REFINER_RULES = `An AI agent has just ended a turn in which it followed one of its own skills. You decide whether the turn taught something that belongs into that skill. Most turns do not: then answer NOOP.

Answer with one JSON object, or with NOOP:
{"note": "..."}

- After a turn that ended "done", the note is an observation: what in practice made the skill work, a step that it leaves out, a detail of a tool that it needs.
- After a turn that ended "failed", the note is a counter-example: in which situation the skill, followed as it stands, leads astray, and what that situation can be known by.

NOOP is the answer where
- the skill says so already, in whatever words;
- the turn went as the skill says it does;
- what happened concerns this one request alone: its names, numbers, dates and wording;
- the turn failed for a reason that passes by, such as a timeout, an outage, a rate limit, a network error or a model that was not available: such a fault is no lesson, and nothing is said about it;
- you would have to guess.

The note is one sentence of at most 300 characters, a statement of what was observed rather than an order, in the language of the skill. It names neither people nor the turn.

${FENCE_RULE}`;

/** What is flagged by now reaches no prompt, unless an operator has let it through. */
function textOf({ description, content, operator_released: released }: SkillRow): string {
  const text = `${description}\n\n${content}`;
  return released ? text : unlessFlagged(text, [], 'procedure');
}

/** The data of one turn and the skill that was central to it, for the rules above. */
export function skillRefinerPrompt({ turn, salientText }: StoredTurn, skill: SkillRow): string {
  return [
    `Skill: ${skill.name}`,
    fence('skill', textOf(skill)),
    `Outcome: ${turn.review_outcome}${turn.failure_reason === null ? '' : ` (${turn.failure_reason})`}`,
    `Task:\n${fence('task', clipText(salientText || turn.task_description, TASK_LIMIT))}`,
    `Plan:\n${fence('plan', clipText(turn.plan.summary, PLAN_LIMIT))}`,
    `Tools called: ${oneLine(turn.tool_sequence.join(', '), PLAN_LIMIT) || '(none)'}`,
  ].join('\n\n');
}
