import { capitalised, contentWords, identifiers, oneLine, sentences } from './local-model-language.js';
import type { Candidate } from './local-model-persist.js';

const MAX_SELECTED = 8;
const MAX_BULLETS = 3;
const MIN_TOOLS = 5;
const MIN_TURNS = 3;
const READING = /(?:^|_)(?:get|list|search|query|read|check|find|fetch|lookup|wait|load|render)(?:_|$)/;
const TALKING = /(?:^|_)(?:post|send|comment|message|reply|notify)(?:_|$)/;

export interface SelectionInput {
  /** What the agent was asked. */
  task: string;
  /** Display names of those who ask. */
  senders: readonly string[];
  candidates: readonly Candidate[];
}

/**
 * The remembered facts that bear on a task, by number and in the order given: those of a person only where that
 * person asks or is named; of the rest those that share a name of a thing or two words with the task, and what
 * holds for all work.
 */
export function selectMemories({ task, senders, candidates }: SelectionInput): number[] {
  const words = contentWords(task);
  const things = new Set(identifiers(task));
  const selected = candidates.filter(({ text }) => {
    const person =
      /(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)+)(?:,? (?:now |only )?(?:prefers|wants|needs|said|no longer|is|are|would|asks)\b)/u.exec(
        text,
      )?.[1];
    const shared = [...contentWords(text)].filter((word) => words.has(word));
    if (person && (senders.includes(person) || task.includes(person))) return true;
    const named = identifiers(text).filter((thing) => !/\d/.test(thing));
    if (named.some((thing) => things.has(thing))) return true;
    if (person && /\b(?:prefers|wants|needs|would)\b/.test(text)) return false;
    const general = /\b(?:every|all|always|never)\b/i.test(text) && named.length === 0;
    return general || shared.length >= 2;
  });
  return selected.slice(0, MAX_SELECTED).map(({ n }) => n);
}

/** Up to eight words to search with, names of things first; empty where the task has none. */
export function knowledgeQuery(task: string): string {
  const things = identifiers(task);
  const covered = new Set(things.flatMap((thing) => [...contentWords(thing)]));
  const seen = new Set<string>();
  const words = (task.match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => {
    const [stem] = contentWords(word);
    if (!stem || covered.has(stem) || seen.has(stem)) return false;
    seen.add(stem);
    return true;
  });
  return [...things, ...words].slice(0, 8).join(' ');
}

export interface Hit {
  outcome: string;
  task: string;
  tools: readonly string[];
  /** `YYYY-MM-DD`; `''` where unknown. */
  day: string;
  /** Turns that a compacted episode stands for; 1 for a raw one. */
  count: number;
}

/** One short bullet for each of the first three episodes that share a word with the task; empty where none does. */
export function summarizeEpisodes(hits: readonly Hit[], task: string): string {
  const words = contentWords(task);
  return hits
    .filter((hit) => [...contentWords(hit.task)].some((word) => words.has(word)))
    .slice(0, MAX_BULLETS)
    .map(({ outcome, task, tools, day, count }) => {
      const when = count > 1 ? `observed ${count} times` : [outcome, day].filter(Boolean).join(', ');
      const steps = tools.length > 0 ? ` (${[...new Set(tools)].slice(0, 6).join(' → ')})` : '';
      return `- ${when}: ${oneLine(task, 140)}${steps}`;
    })
    .join('\n');
}

export interface Trait {
  key: string;
  values: string[];
}

const languages: [string, RegExp][] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['German', /\b(?:bitte|guten|nicht|wir|und)\b/iu],
  ['Spanish', /\b(?:gracias|pueden|hola|buenos|factura|pedido)\b/iu],
  ['French', /\b(?:bonjour|merci|nous|vous)\b/iu],
];

/** What one person's own words show of them: the language, stated wishes, the things they speak of. */
export function profileTraits(said: string): Trait[] {
  const traits: Trait[] = [];
  const language = languages.find(([, cue]) => cue.test(said))?.[0];
  if (language) traits.push({ key: 'language', values: [language] });
  const wishes = sentences(said).filter((sentence) =>
    /\bI(?:['’]d)? (?:now |really )?(?:prefer|rather)\b|\bplease (?:always|never)\b|\bprefiero\b/i.test(sentence),
  );
  if (wishes.length > 0) traits.push({ key: 'stated_preferences', values: wishes.map((wish) => oneLine(wish, 200)) });
  const things = identifiers(said).filter((thing) => !/\d/.test(thing));
  if (things.length > 0) traits.push({ key: 'topics', values: things.slice(0, 5) });
  return traits;
}

export interface SkillInput {
  tools: readonly string[];
  task: string;
  /** The steps as the turn planned them; empty where it had none. */
  steps: readonly string[];
  /** Turns that the procedure was seen in. */
  turns: number;
  takenNames: readonly string[];
}

export interface SkillDraft {
  name: string;
  description: string;
  body: string;
}

/**
 * A procedure in the order of the tools used; null for fewer than five calls that have not been seen three times, and
 * where the name is taken.
 */
export function draftSkill({ tools, task, steps, turns, takenNames }: SkillInput): SkillDraft | null {
  if (tools.length === 0 || (tools.length < MIN_TOOLS && turns < MIN_TURNS)) return null;
  const acting = tools.find((tool) => !READING.test(tool) && !TALKING.test(tool)) ?? tools[tools.length - 1] ?? '';
  const name = acting
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
  if (name.length < 2 || takenNames.includes(name)) return null;
  const calls = tools.filter((tool, index) => tool !== tools[index - 1]);
  return {
    name,
    description: oneLine(`How to ${acting.replace(/_/g, ' ')}, as done for: ${task}`, 200),
    body: [
      `## When to use\n\nA request like this one: ${oneLine(task, 200)}`,
      `## Steps\n\n${calls.map((tool, index) => `${index + 1}. Call \`${tool}\`.`).join('\n')}`,
      ...(steps.length > 0
        ? [`As it was planned:\n\n${steps.map((step) => `- ${oneLine(step, 160)}`).join('\n')}`]
        : []),
      '## Pitfalls\n\nNone seen.',
    ].join('\n\n'),
  };
}

export interface RefinementInput {
  outcome: string;
  task: string;
  tools: readonly string[];
  /** The body of the skill that was used. */
  body: string;
}

/** How the turn departed from the skill that it used; null for a done turn that called nothing beyond it. */
export function refinementNote({ outcome, task, tools, body }: RefinementInput): string | null {
  const extra = [...new Set(tools)].filter((tool) => !body.includes(tool));
  if (outcome === 'failed') {
    const last = tools[tools.length - 1];
    return oneLine(`Did not get to the end${last ? `, last call ${last}` : ''}: ${task}`, 300);
  }
  return extra.length > 0 ? oneLine(`Also called ${extra.join(', ')} for: ${task}`, 300) : null;
}

export interface CompactionAnswer {
  common_task_pattern: string;
  common_outcome: string;
  subjects_involved: string[];
  notable_patterns: string;
}

/** The words that most of the tasks share, and what can be counted. */
export function compactEpisodes(hits: readonly Hit[]): CompactionAnswer {
  const counts = new Map<string, number>();
  for (const { task } of hits) {
    for (const word of new Set(task.toLowerCase().match(/\p{L}[\p{L}-]{2,}/gu) ?? [])) {
      if (contentWords(word).size > 0) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const common = [...counts].filter(([, times]) => times * 2 > hits.length).sort(([, a], [, b]) => b - a);
  const done = hits.filter(({ outcome }) => outcome === 'done').length;
  const [first] = hits;
  return {
    common_task_pattern:
      common.length > 0
        ? capitalised(
            common
              .slice(0, 8)
              .map(([word]) => word)
              .join(', '),
          )
        : '(heterogeneous)',
    common_outcome: `${done} of ${hits.length} done`,
    subjects_involved: [...new Set(hits.flatMap(({ task }) => identifiers(task)))].slice(0, 10),
    notable_patterns:
      first && first.tools.length > 0 ? `Usual calls: ${[...new Set(first.tools)].slice(0, 8).join(', ')}` : '',
  };
}
