import { BLOCKED } from '../../core/screening/blocked-text.js';
import { screenText } from '../../core/screening/screening-rules.js';
import type { PlanContext, TurnPhase } from '../../core/turn/extension-points.js';
import { renderBody, substitute } from './tool-skill.rendering.js';
import type { SourcedSkill } from './tool-skill.models.js';
import { isTriggered, type Surroundings } from './tool-skill.trigger.js';

/** A skill as one role reads it. */
export interface ReadableSkill {
  key: string;
  title: string;
  summary: string;
  required: boolean;
  body: string;
  /** Why screening holds it back from prompts; the texts then say no more than that. */
  blocked: string | null;
}

/** What a stored plan context says of its role. */
export function surroundingsOf({ availableTools, mcpServers }: PlanContext): Surroundings {
  return { tools: new Set(availableTools), mcpServers: new Set(mcpServers) };
}

/** The skills of a phase that concern the role, all of the phase where nothing is known of it. */
export function skillsFor(
  skills: readonly SourcedSkill[],
  phase: TurnPhase,
  surroundings: Surroundings | null,
): SourcedSkill[] {
  return skills.filter(
    ({ phases, trigger }) => phases.includes(phase) && (!surroundings || isTriggered(trigger, surroundings)),
  );
}

/** Text that rules of today flag, whatever those of its day said, does not reach a prompt unless an operator let it. */
export function readable(
  skill: SourcedSkill,
  given: { surroundings: Surroundings | null; variables: Readonly<Record<string, string>> },
): ReadableSkill {
  const { key, required } = skill;
  const title = substitute(skill.title, given.variables);
  const summary = substitute(skill.summary, given.variables);
  const body = renderBody(skill.body, given);
  const verdict = skill.released
    ? { flagged: false as const }
    : screenText(`${title}\n${summary}\n${body}`, 'procedure');
  if (!verdict.flagged) return { key, title, summary, required, body, blocked: null };
  return { key, title: BLOCKED, summary: BLOCKED, required, body: BLOCKED, blocked: verdict.reason };
}
