import { findInjection } from './injection-patterns.js';
import { asSeen, findInvisible } from './invisible-unicode.js';
import { findSecret } from './secret-patterns.js';

export type ScreeningReason = 'injection' | 'invisible_unicode' | 'secret';

export type ScreeningVerdict =
  | { flagged: false }
  /** `detail` says what was found, for an operator, and never repeats a secret. */
  | { flagged: true; reason: ScreeningReason; detail: string };

/**
 * Whether a text may become a memory: few, precise rules, because what they catch waits for a person and what they
 * let through is rendered as attributed data all the same. A text that explains attacks, or names `~/.ssh`, passes.
 */
export function screenText(text: string): ScreeningVerdict {
  const seen = asSeen(text);
  const secret = findSecret(seen);
  if (secret) return { flagged: true, reason: 'secret', detail: `holds what looks like a secret: ${secret}` };
  const injection = findInjection(seen);
  if (injection) return { flagged: true, reason: 'injection', detail: injection };
  const invisible = findInvisible(text);
  if (invisible) return { flagged: true, reason: 'invisible_unicode', detail: `holds the invisible ${invisible}` };
  return { flagged: false };
}
