import { oneLine } from '../../core/auxiliary/fence.js';
import { searchTokens } from '../../core/retrieval/tokens.js';
import { clipText } from '../../platform/text/storable-text.js';

/** UTF-16 code units of one note. A longer one ends in "…", so that the cut is seen. */
const NOTE_LIMIT = 400;
/** Share of words from which on two lines say the same: one word of eight may differ. */
const SAME = 0.85;

const PREFIXES = { done: '- Observed in practice: ', failed: '- Counter-example: ' } as const;

const BULLET = /^\s*(?:[-*•+]|\d+[.)])(?:\s+|$)/u;
const DASH = /^\s*[-*•+](?:\s+|$)/u;
const LABEL = /^(?:observed in practice|counter-?example)\s*:\s*/iu;
/** Words that turn a sentence around: two lines that differ in one of them do not say the same. */
const TURNING =
  /^(?:no|not|never|none|neither|nor|without|cannot|cant|dont|doesnt|didnt|isnt|arent|wont|only|except|unless|before|after|nicht|kein\w*|nie|ohne|pas|jamais|sans|sin|nunca)$/u;

/** What passes by and teaches nothing: the service behind a tool was slow, down or busy. */
const TRANSIENT = [
  /\btim(?:e|ed|es|ing)[ -]?outs?\b/iu,
  /\brate[ -]?limit/iu,
  /\btoo many requests\b/iu,
  /\boutages?\b/iu,
  /\b(?:temporarily|currently|momentarily) (?:down|offline|unavailable|unreachable)\b/iu,
  /\b(?:service|server|api|endpoint|backend|model|provider|tool)\b.{0,40}\b(?:was|were|is|being)\s+(?:down|offline|unavailable|unreachable|overloaded)\b/iu,
  /\bservice unavailable\b/iu,
  /\bconnection (?:was )?(?:reset|refused|lost|dropped|aborted)\b/iu,
  /\bnetwork (?:error|failure|fault|issue|problem|glitch)s?\b/iu,
  /\b(?:overloaded|bad gateway)\b/iu,
  /\b(?:http|status|code|error)\s*(?:code\s*)?:?\s*(?:408|429|500|502|503|504|529)\b/iu,
  /\bE(?:CONNRESET|CONNREFUSED|TIMEDOUT|AI_AGAIN)\b/u,
];

export type NotedOutcome = keyof typeof PREFIXES;

/** The line that a note of a model becomes; null where the note is blank. */
export function noteLine(outcome: NotedOutcome, note: string): string | null {
  const bare = oneLine(note).replace(BULLET, '').replace(LABEL, '').trim();
  if (bare === '') return null;
  return `${PREFIXES[outcome]}${bare.length > NOTE_LIMIT ? `${clipText(bare, NOTE_LIMIT)}…` : bare}`;
}

/** Whether a note is about a fault that passes by. */
export function isTransient(note: string): boolean {
  return TRANSIENT.some((pattern) => pattern.test(note));
}

/** Whether every line of `text` stands in the body already, letter case, space and list marks aside. */
export function repeatsLines(text: string, body: string): boolean {
  const lines = linesOf(text).map(folded);
  const known = new Set(linesOf(body).map(folded));
  return lines.length > 0 && lines.every((line) => known.has(line));
}

/**
 * Whether the body says already what a note says: each sentence of it stands there, or one line has nearly the same
 * words, of which none turns the sentence around and none is a number.
 */
export function saysAlready(note: string, body: string): boolean {
  const known = new Set(linesOf(body).flatMap((line) => [folded(line), ...sentencesOf(line)]));
  if (sentencesOf(note).every((sentence) => known.has(sentence))) return true;
  const words = new Set(searchTokens(folded(note)));
  return linesOf(body).some((line) => nearlySame(words, new Set(searchTokens(folded(line)))));
}

/** The body with `text` as its last lines: next to bullets that it ends in, else after a blank line. */
export function appended(body: string, text: string): string {
  const last = linesOf(body).at(-1) ?? '';
  const wanted = DASH.test(last) && DASH.test(text) ? 1 : 2;
  let ends = 0;
  while (body.at(-1 - ends) === '\n') ends++;
  return `${body}${'\n'.repeat(Math.max(0, wanted - ends))}${text}`;
}

/** What a tool call adds: a list item where it is not one, or a heading, already. */
export function asListItem(text: string): string {
  return BULLET.test(text) || /^\s*#/.test(text) ? text : `- ${text.trimStart()}`;
}

function nearlySame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const differing = [...a].filter((word) => !b.has(word)).concat([...b].filter((word) => !a.has(word)));
  if (differing.some((word) => TURNING.test(word) || /\p{N}/u.test(word))) return false;
  const all = new Set([...a, ...b]).size;
  return all > 0 && (all - differing.length) / all >= SAME;
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/u).filter((line) => line.trim() !== '');
}

function sentencesOf(line: string): string[] {
  return folded(line)
    .split(/(?<=[.!?;。！？])\s*/u)
    .map(folded)
    .filter((sentence) => sentence !== '');
}

function folded(line: string): string {
  const bare = line.replace(BULLET, '').replace(LABEL, '');
  return bare
    .normalize('NFC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[.;。]$/u, '');
}
