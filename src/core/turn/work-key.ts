import { createHash } from 'node:crypto';

/**
 * Names the piece of work that a set of trigger events asks for: two turns with the same key worked on the same
 * thing. The first 32 hex digits of sha-256 over the distinct ids, sorted, one a line; `''` where there are none.
 */
export function workKey(triggerEventIds: readonly string[]): string {
  const distinct = [...new Set(triggerEventIds)].sort();
  if (distinct.length === 0) return '';
  return createHash('sha256').update(distinct.join('\n')).digest('hex').slice(0, 32);
}
