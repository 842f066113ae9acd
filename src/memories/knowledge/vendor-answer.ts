import { storableText } from '../../platform/text/storable-text.js';

/** Readers of what a vendor's server answered: outside data, of which any part may be missing or of another type. */

export type Fields = Record<string, unknown>;

/** The value as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}

/** The value's items that are objects. */
export function rowsOf(value: unknown): Fields[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is Fields => item !== null && typeof item === 'object' && !Array.isArray(item));
}

/** Storable text; null where the value is neither a text nor a number, or says nothing. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string' || value.trim() === '') return null;
  return storableText(value);
}
