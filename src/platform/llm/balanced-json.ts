export type Opener = '{' | '[';

const CLOSES: Record<Opener, string> = { '{': '}', '[': ']' };

/** Characters looked at in all, so that an answer of nothing but braces costs no more than one of prose. */
const WORK = 5_000_000;

/** What starts like this and never ends is an answer that was cut off: what stands inside it is a part, not the answer. */
const STARTS_AS_OBJECT = /\{\s*"[^"\\]*(?:\\.[^"\\]*)*(?:"\s*:|\\?$)/sy;

/**
 * Goes through the balanced JSON objects (and arrays) in `text` that stand inside no other one, and answers with what
 * `accept` made of the last that it did not refuse; null where it refused all.
 */
export function lastBalanced<Result>(
  text: string,
  openers: readonly Opener[],
  accept: (json: unknown) => Result | null,
): Result | null {
  let found: Result | null = null;
  let work = WORK;
  let at = nextOpener(text, 0, openers);
  while (at !== -1) {
    const { end, balanced } = scan(text, at, Math.min(text.length, at + work));
    work -= end - at;
    if (work <= 0) return null;
    const json = balanced ? jsonOf(text.slice(at, end)) : undefined;
    if (json !== undefined) found = accept(json) ?? found;
    else if (end === text.length && !balanced && startsAsObject(text, at)) return found;
    at = nextOpener(text, json === undefined ? at + 1 : end, openers);
  }
  return found;
}

function nextOpener(text: string, from: number, openers: readonly Opener[]): number {
  for (let at = from; at < text.length; at += 1) {
    if (openers.includes(text[at] as Opener)) return at;
  }
  return -1;
}

/** Reads the bracket at `start` as JSON up to the one that closes it, or to where it is clear that none does. */
function scan(text: string, start: number, stop: number): { end: number; balanced: boolean } {
  const awaited: string[] = [];
  let inString = false;
  for (let at = start; at < stop; at += 1) {
    const character = text[at]!;
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '{' || character === '[') {
      awaited.push(CLOSES[character]);
    } else if (character === '}' || character === ']') {
      if (awaited.pop() !== character) return { end: at, balanced: false };
      if (awaited.length === 0) return { end: at + 1, balanced: true };
    }
  }
  return { end: stop, balanced: false };
}

function startsAsObject(text: string, at: number): boolean {
  STARTS_AS_OBJECT.lastIndex = at;
  return STARTS_AS_OBJECT.test(text);
}

/** undefined where it is no JSON, which JSON itself never is. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
