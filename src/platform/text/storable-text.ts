/**
 * Text that Postgres can store and an embedder can read: NUL and lone surrogates become U+FFFD; nothing else
 * changes, so emoji, ZWJ families and decomposed accents come back byte-equal.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** The first `limit` UTF-16 code units, one fewer where the cut would split a surrogate pair. */
export function clipText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** `storableText` on every string of a JSON value, keys included; the value is changed in place where it can be. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), storableJson(item)]));
  }
  return value;
}
