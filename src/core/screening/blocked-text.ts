import { screenText } from './screening-rules.js';
import type { TextKind } from './text-kind.js';

/** Stands in a prompt for stored text that screening flags by now. Why is said to operators, never to a model. */
export const BLOCKED = '[blocked]';

/**
 * `shown`, or `[blocked]` where it, or anything that it was made of, is flagged: rules grow, and what was stored under
 * older ones reaches no prompt.
 */
export function unlessFlagged(shown: string, madeOf: readonly string[] = [], kind: TextKind = 'fact'): string {
  return [shown, ...madeOf].some((text) => screenText(text, kind).flagged) ? BLOCKED : shown;
}
