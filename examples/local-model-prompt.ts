import type { Candidate, Message } from './local-model-persist.js';
import type { Hit } from './local-model-rules.js';

/** A piece of data that a prompt holds between two tags which its text cannot close. */
export interface Fenced {
  /** The tag without its digest, e.g. `message`. */
  name: string;
  text: string;
  /** What stands between the fence before and this one. */
  lead: string;
}

/** The fenced pieces in their order. Fences inside a fence are part of its text. */
export function fencedIn(prompt: string): Fenced[] {
  const found: Fenced[] = [];
  let end = 0;
  for (const match of prompt.matchAll(/<([a-z][a-z-]*?)-([0-9a-f]{6,})>\n?([\s\S]*?)\n?<\/\1-\2>/g)) {
    found.push({ name: match[1] ?? '', text: match[3] ?? '', lead: prompt.slice(end, match.index) });
    end = match.index + match[0].length;
  }
  return found;
}

/** The prompt without its fenced pieces. */
export function outsideFences(prompt: string): string {
  return fencedIn(prompt).reduce((text, { text: data }) => text.replace(data, () => ''), prompt);
}

/** The candidates of a prompt: the last run of lines `1. …`, `2. …` outside its fences, else in a fence of theirs. */
export function candidatesIn(prompt: string): Candidate[] {
  const outside = lastRun(outsideFences(prompt));
  if (outside.length > 0) return outside;
  const own = fencedIn(prompt).findLast(({ name }) => /memor|candidate|known/.test(name));
  return own ? lastRun(own.text) : [];
}

/** When the turn took place: the first date with a time that stands outside the fences; null where none does. */
export function timeIn(prompt: string): Date | null {
  const match =
    /(\d{4}-\d\d-\d\d)(?: ?\([A-Za-z]+\))?[T ,]*(\d\d:\d\d)(?::\d\d(?:\.\d+)?)? ?(UTC|Z|[+-]\d\d:\d\d)?/.exec(
      outsideFences(prompt),
    );
  if (!match) return null;
  const zone = match[3] && match[3] !== 'UTC' ? match[3] : 'Z';
  const at = new Date(`${match[1]}T${match[2]}:00${zone}`);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** `Ada Lovelace (slack:U1)` → `Ada Lovelace`; an address alone stays as it is. */
export function nameOf(described: string): string {
  return described.replace(/\s*\([^()]*:[^()]*\)\s*$/, '').trim();
}

const SENDER_LINE =
  /(?:^|\n)[ \t]*(?:[-*#]+ )?(?:from|sender|requester|by|said by|current sender|counterparty|subject)s?[^:\n]{0,20}: *(.+?)[ \t]*(?=\n|$)/gi;

/** The names of those who ask, each once. */
export function sendersIn(prompt: string): string[] {
  const lines = [...outsideFences(prompt).matchAll(SENDER_LINE)].map((match) => nameOf(match[1] ?? ''));
  const fenced = fencedIn(prompt)
    .filter(({ name }) => /sender/.test(name))
    .flatMap(({ text }) => text.split('\n').map(senderOf));
  return [...new Set([...lines, ...fenced])].filter(Boolean);
}

/** The name on a line of a sender's fence, with or without a label such as `Requester:`. */
function senderOf(line: string): string {
  return nameOf(line.replace(/^(?:[-*] |(?:current sender|requester|from): *)/i, ''));
}

/** What the prompt is about: its task, its messages and what was found out since. */
export function taskIn(prompt: string): string {
  const parts = fencedIn(prompt).filter(({ name }) => /task|message|trigger|hint|query|request/.test(name));
  return parts.map(({ text }) => text).join('\n');
}

/** The comma-separated values of the first line outside the fences whose label matches. */
export function listAfter(prompt: string, label: RegExp): string[] {
  for (const line of outsideFences(prompt).split('\n')) {
    const match = /^([^:]{1,60}): *(.*)$/.exec(line);
    if (!match?.[1] || !label.test(match[1])) continue;
    const values = (match[2] ?? '').split(/, ?| → /).map((value) => value.replace(/[`"]/g, '').trim());
    return values.filter((value) => value !== '' && !/^\(.*\)$/.test(value));
  }
  return [];
}

/** The episodes of a prompt: fenced ones as JSON, else one a line as a bullet or a numbered item. */
export function hitsIn(prompt: string): Hit[] {
  const fences = fencedIn(prompt).filter(({ name }) => /episode|turn|hit|result|prior/.test(name));
  const texts = fences.length > 0 ? fences.map(({ text }) => text) : [prompt];
  return texts.flatMap((text) => hitsFromJson(text) ?? hitsFromLines(text));
}

/** Who speaks and what is said, as far as the tags and the lines before them tell. */
export function messagesIn(prompt: string): Message[] {
  let sender = '';
  return fencedIn(prompt).flatMap(({ name, text, lead }) => {
    const named = [...lead.matchAll(SENDER_LINE)].at(-1)?.[1];
    if (named) sender = nameOf(named);
    if (/sender/.test(name)) sender = senderOf(text);
    if (!/message|inbound|interaction|body|said/.test(name)) return [];
    const own = new RegExp(SENDER_LINE.source, 'i').exec(text);
    if (own?.index === 0 && own[1]) return [{ sender: nameOf(own[1]), text: text.slice(own[0].length).trim() }];
    return [{ sender, text }];
  });
}

function lastRun(text: string): Candidate[] {
  let run: Candidate[] = [];
  let last: Candidate[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d{1,4})\. (.+)$/.exec(line);
    const n = Number(match?.[1]);
    if (n === 1) run = [];
    if (match?.[2] && n === run.length + 1) {
      run.push({ n, text: match[2].trim() });
      last = run;
    }
  }
  return last;
}

/** What the summary and the compactor are told of an episode. */
interface EpisodeData {
  task?: string;
  /** In place of `task` where the episode stands for many turns. */
  pattern?: string;
  outcome?: string | null;
  tool_sequence?: string[];
  ended_at?: string;
  count?: number;
}

function hitsFromJson(text: string): Hit[] | null {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // Not JSON: the caller reads it line by line.
    return null;
  }
  const { episodes } = (data ?? {}) as { episodes?: unknown };
  const list = Array.isArray(data) ? data : Array.isArray(episodes) ? episodes : [data];
  return (list as EpisodeData[]).map((episode) => ({
    outcome: episode.outcome ?? '',
    task: episode.pattern ?? episode.task ?? '',
    tools: episode.tool_sequence ?? [],
    day: episode.ended_at?.slice(0, 10) ?? '',
    count: episode.count ?? 1,
  }));
}

function hitsFromLines(text: string): Hit[] {
  return text.split('\n').flatMap((line) => {
    const item = /^\s*(?:[-*•]|\d+\.) +(.+)$/.exec(line)?.[1];
    if (!item) return [];
    const tools = /(?:tools?:? *)([a-z_]+(?:(?:, ?| → | -> )[a-z_]+)*)/i.exec(item);
    return [
      {
        outcome: /\b(done|failed|self_iterate)\b/.exec(item)?.[1] ?? '',
        task: (tools ? item.slice(0, tools.index) : item).replace(/^\[[^\]]*\] */, '').replace(/[\s(;,:|–-]+$/, ''),
        tools: tools?.[1]?.split(/, ?| → | -> /) ?? [],
        day: /\d{4}-\d\d-\d\d/.exec(item)?.[0] ?? '',
        count: Number(/observed (\d+)/.exec(item)?.[1] ?? 1),
      },
    ];
  });
}
