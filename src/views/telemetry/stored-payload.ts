import { clipText, storableJson } from '../../platform/text/storable-text.js';

/** Characters of a payload's JSON; far above what any event of a usual turn holds. */
export const MAX_PAYLOAD = 65_536;
const CLIPPED_TEXT = 2_000;
const CLIPPED_LIST = 200;

/**
 * The payload as JSON that can be stored. One longer than `MAX_PAYLOAD` has its texts and lists clipped and says so with
 * `clipped: true`, so that neither the buffer of events nor a stream can be filled by one turn with ten thousand tools.
 *
 * @throws TypeError for what JSON cannot express
 */
export function storedPayload(payload: unknown): string {
  const json = JSON.stringify(storableJson(payload ?? {}));
  if (json.length <= MAX_PAYLOAD) return json;
  const shorter = JSON.stringify({ ...(clipped(JSON.parse(json)) as object), clipped: true });
  return shorter.length <= MAX_PAYLOAD ? shorter : '{"clipped":true}';
}

function clipped(value: unknown): unknown {
  if (typeof value === 'string') return clipText(value, CLIPPED_TEXT);
  if (Array.isArray(value)) return value.slice(0, CLIPPED_LIST).map(clipped);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clipped(item)]));
  }
  return value;
}
