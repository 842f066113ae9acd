import { createHash } from 'node:crypto';

/**
 * Sha-256 (hex) of a JSON value. The order of object keys does not matter, that of arrays does. Fields that are null or an
 * empty list count as absent, so that a body keeps its hash when a later release knows one more optional field.
 */
export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(
          Object.entries(item)
            .filter(([, field]) => field !== null && !(Array.isArray(field) && field.length === 0))
            .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
        )
      : item,
  );
}
