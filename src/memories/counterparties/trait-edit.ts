import { MAX_KEYS, MAX_VALUES, cleanKey, cleanValues, type TraitValues } from './trait-patch.js';

const KEY_LIMIT = 64;
const VALUE_LIMIT = 200;

/** Why an operator's `traits` are refused; null where they are fit. Nothing that an operator writes is cut. */
export function traitEditProblem(traits: unknown): string | null {
  if (traits === null || typeof traits !== 'object' || Array.isArray(traits))
    return 'traits must be an object of lists';
  const entries = Object.entries(traits);
  if (entries.length > MAX_KEYS) return `traits must not name more than ${MAX_KEYS} keys`;
  for (const [key, given] of entries) {
    if (cleanKey(key) === '' || key.length > KEY_LIMIT) return `traits: a key has 1 to ${KEY_LIMIT} characters`;
    const values = listOf(given);
    const texts = values.map(textOf);
    const bad = texts.some((text) => text === null || text.trim() === '' || text.length > VALUE_LIMIT);
    if (bad) return `traits.${key} must be texts of 1 to ${VALUE_LIMIT} characters`;
    if (values.length > MAX_VALUES) return `traits.${key} must not have more than ${MAX_VALUES} values`;
  }
  return null;
}

/** The values of each trait, each on one line; an empty list removes the trait. */
export function readTraitEdit(traits: Record<string, unknown>): TraitValues {
  return Object.fromEntries(
    Object.entries(traits).map(([key, given]) => [cleanKey(key), cleanValues(listOf(given).map(textOf))]),
  );
}

function listOf(given: unknown): unknown[] {
  if (given === null) return [];
  return Array.isArray(given) ? given : [given];
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const shown = value !== null && typeof value === 'object' ? (value as { value?: unknown }).value : undefined;
  return typeof shown === 'string' ? shown : null;
}
