import { storableText } from '../text/storable-text.js';
import { ApiError } from './api-error.js';

/** Values inside values; far above any body of the contract, far below what exhausts a stack. */
export const MAX_DEPTH = 64;

/**
 * Makes every string of a parsed JSON body storable, in place and without recursion.
 * Throws 400 `body.too_deep` past `MAX_DEPTH`.
 */
export function storableBody(body: unknown): unknown {
  if (typeof body === 'string') return storableText(body);
  if (body === null || typeof body !== 'object') return body;
  const open: [value: object, depth: number][] = [[body, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [container, depth] = next;
    if (depth > MAX_DEPTH) {
      throw new ApiError(400, 'body.too_deep', `The body nests deeper than ${MAX_DEPTH} levels.`);
    }
    const entries = container as Record<string, unknown>;
    for (const [key, value] of Object.entries(entries)) {
      if (typeof value === 'string') entries[key] = storableText(value);
      else if (value !== null && typeof value === 'object') open.push([value, depth + 1]);
      const cleaned = storableText(key);
      if (cleaned !== key) {
        entries[cleaned] = entries[key];
        delete entries[key];
      }
    }
  }
  return body;
}

/** `storableText` on the values of path parameters and query strings. */
export function storableParameters(parameters: unknown): void {
  if (parameters === null || typeof parameters !== 'object') return;
  const entries = parameters as Record<string, unknown>;
  for (const [key, value] of Object.entries(entries)) {
    if (typeof value === 'string') entries[key] = storableText(value);
    else if (Array.isArray(value)) {
      entries[key] = value.map((item: unknown) => (typeof item === 'string' ? storableText(item) : item));
    }
  }
}
