import { clipText } from '../../platform/text/storable-text.js';

/** Keys of one observation, and of a profile. */
export const MAX_KEYS = 16;
/** Values of one trait. */
export const MAX_VALUES = 20;
/** UTF-16 code units of a key and of a value. */
const KEY_LIMIT = 64;
const VALUE_LIMIT = 200;

/** What one observation says: the values of each trait. */
export type TraitValues = Record<string, string[]>;

/** What was observed of somebody: values that hold, and known ones that no longer do. */
export interface TraitPatch {
  traits: TraitValues;
  noLonger: TraitValues;
}

/**
 * The usable part of a model's `traits`: at most 16 keys of 64 characters, 20 values a key, each on one line of at most
 * 200 characters. Numbers and booleans count as text; what is neither, blank or over the bounds is dropped.
 */
export function readPatch(items: readonly unknown[]): TraitPatch {
  const traits = new Map<string, string[]>();
  const noLonger = new Map<string, string[]>();
  for (const item of items) {
    if (item === null || typeof item !== 'object') continue;
    const { key, values, no_longer } = item as Record<string, unknown>;
    const name = typeof key === 'string' ? cleanKey(key) : '';
    if (name === '') continue;
    addTo(traits, name, cleanValues(values));
    addTo(noLonger, name, cleanValues(no_longer));
  }
  return { traits: Object.fromEntries(traits), noLonger: Object.fromEntries(noLonger) };
}

/** On one line, at most 64 characters; `''` where nothing is left. */
export function cleanKey(key: string): string {
  return onOneLine(key, KEY_LIMIT);
}

/** The usable values of a string, number, boolean or list of them, each once. */
export function cleanValues(values: unknown): string[] {
  const list: unknown[] = Array.isArray(values) ? values : [values];
  const texts = list.map((value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '',
  );
  const seen = new Map<string, string>();
  for (const text of texts) {
    const value = onOneLine(text, VALUE_LIMIT);
    const same = sameness(value);
    if (value !== '' && !seen.has(same)) seen.set(same, value);
  }
  return [...seen.values()].slice(0, MAX_VALUES);
}

/** Two values, or two keys, are the same where this is: case, space and a full stop at the end do not count. */
export function sameness(text: string): string {
  const folded = text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return folded.replace(/[.。!]+$/u, '') || folded;
}

/** `Preferred style`, `preferred-style` and `preferred_style` name one trait. */
export function keySameness(key: string): string {
  return sameness(key).replace(/[\s_-]+/gu, '_');
}

export function isEmptyPatch({ traits, noLonger }: TraitPatch): boolean {
  return Object.keys(traits).length === 0 && Object.keys(noLonger).length === 0;
}

function addTo(map: Map<string, string[]>, key: string, values: readonly string[]): void {
  if (values.length === 0) return;
  const name = [...map.keys()].find((known) => keySameness(known) === keySameness(key)) ?? key;
  if (!map.has(name) && map.size === MAX_KEYS) return;
  map.set(name, cleanValues([...(map.get(name) ?? []), ...values]));
}

function onOneLine(text: string, limit: number): string {
  return clipText(text.replace(/[\s\u0085]+/gu, ' ').trim(), limit).trim();
}
