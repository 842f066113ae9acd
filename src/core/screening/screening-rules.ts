import { decodedParts, otherGuises } from './disguised-text.js';
import { findInjection, findOverride } from './injection-patterns.js';
import { asSeen, findInvisible } from './invisible-unicode.js';
import { findSecret } from './secret-patterns.js';
import type { TextKind } from './text-kind.js';

export type ScreeningReason = 'injection' | 'invisible_unicode' | 'secret';

export type ScreeningVerdict =
  | { flagged: false }
  /** `detail` says what was found, for an operator, and never repeats a secret. */
  | { flagged: true; reason: ScreeningReason; detail: string };

/**
 * Whether a text may become a memory: few, precise rules, because what they catch waits for a person and what they
 * let through is rendered as attributed data all the same. A text that explains attacks, or names `~/.ssh`, passes.
 */
export function screenText(text: string, kind: TextKind = 'fact'): ScreeningVerdict {
  const seen = asSeen(text);
  const decoded = decodedParts(seen);
  const secret = firstOf([seen, ...decoded], findSecret);
  if (secret !== null) return { flagged: true, reason: 'secret', detail: `holds what looks like a secret: ${secret}` };
  const injection = findInjection(seen, kind);
  if (injection !== null) return { flagged: true, reason: 'injection', detail: injection };
  const hidden =
    firstOf(otherGuises(seen), findOverride) ??
    firstOf(decoded, (part) => findInjection(part, kind) ?? findOverride(part));
  if (hidden !== null) return { flagged: true, reason: 'injection', detail: `${hidden}, in disguise` };
  const invisible = findInvisible(text);
  if (invisible !== null) {
    return { flagged: true, reason: 'invisible_unicode', detail: `holds the invisible ${invisible}` };
  }
  return { flagged: false };
}

function firstOf(texts: readonly string[], find: (text: string) => string | null): string | null {
  for (const text of texts) {
    const found = find(text);
    if (found !== null) return found;
  }
  return null;
}
