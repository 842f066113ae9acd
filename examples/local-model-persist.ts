import { datesIn, isoDay, ttlDays } from './local-model-dates.js';
import { capitalised, contentWords, oneLine, sentences, toThirdPerson } from './local-model-language.js';

export interface Message {
  /** `''` where the prompt names nobody. */
  sender: string;
  text: string;
}

export interface Candidate {
  /** The number it carries in the prompt, from 1. */
  n: number;
  text: string;
}

export interface PersistInput {
  /** When the turn took place. */
  at: Date;
  messages: readonly Message[];
  /** What the agent already remembers. */
  known: readonly Candidate[];
}

export interface PersistAnswer {
  kind: 'NOOP' | 'LONG' | 'SHORT' | 'DOC';
  content: string;
  ttl_days?: number;
  target_hint?: string;
  rationale?: string;
  supersedes?: number[];
}

interface Draft {
  kind: 'LONG' | 'SHORT' | 'DOC';
  content: string;
  ttl_days?: number;
  target_hint?: string;
  rationale?: string;
  /** The sentence as it was said. */
  said: string;
  sender: string;
}

const NOTHING: PersistAnswer = { kind: 'NOOP', content: '' };

const english = {
  preference:
    /\bI(?:['’]d)? (?:now |really |much |only )?(?:prefer|rather)\b|\bI['’]d rather\b|\b\p{Lu}\p{L}+ prefers\b/u,
  standing: /\bfrom now on\b|\bgoing forward\b|\bplease (?:always|never)\b/i,
  retraction: /\bI no longer (?:want|need|like|prefer)\b|\bplease (?:don['’]t|do not)\b.*\bany ?more\b/i,
  convention: /\bevery (?:PR|commit|pull request|release|ticket)\b.*\b(?:needs?|must|has to)\b/i,
};
const otherLanguages = [
  /\b(?:künftig|ab jetzt|ab sofort|bitte immer|(?:ich|wir) bevorzugen?)\b/iu,
  /\b(?:prefiero|preferimos|a partir de ahora)\b/iu,
  /à partir de maintenant|\bdorénavant\b|\bdésormais\b|\b(?:je préfère|nous préférons)\b/iu,
  /今後|これからは|必ず/u,
];
const teamCue =
  /\bfor everyone\b|\bthe whole team\b|\beveryone on the team\b|\bthe team should\b|\b(?:runbook|playbook|handbook|wiki)\b[^.?!]{0,40}\bshould\b|\bshould be in the\b[^.?!]{0,40}\b(?:runbook|playbook|handbook|wiki)\b/i;
const page = /((?:[\p{L}-]+ ){0,2})(runbook|playbook|handbook|wiki)\b/iu;
const untilCue = /\b(?:until|till|through)\b/i;
const stateCue =
  /\b(?:vacation|holidays?|on leave|away|out of office|OOO|freeze|strike|closed|stocktaking|sick|on call|day off|unavailable|maintenance|sprint)\b/i;
const continuation = /\b(?:until then|meanwhile|in the meantime|only with)\b/i;
const reversalCue =
  /\bno longer\b|\bany ?more\b|\binstead\b|\bchanged (?:my|our) mind\b|\bforget what I said\b|\bscrap\b|\bcorrection\b|\bnot\b|n['’]t\b/i;

/**
 * What of one turn is worth remembering, by surface cues alone: the first sentence that states a preference or a
 * standing rule (LONG), a state with an end (SHORT) or something for the whole team (DOC). Deaf to everything
 * implied, and gullible: it takes what it is told.
 */
export function decidePersistence({ at, messages, known }: PersistInput): PersistAnswer {
  for (const message of messages) {
    const said = sentences(message.text);
    for (const [index, sentence] of said.entries()) {
      const draft = draftOf(sentence, { before: said[index - 1], after: said[index + 1], sender: message.sender, at });
      if (draft) return reconciled(draft, known);
    }
  }
  return NOTHING;
}

interface Surroundings {
  before: string | undefined;
  after: string | undefined;
  sender: string;
  at: Date;
}

function draftOf(sentence: string, around: Surroundings): Draft | null {
  const base = { said: sentence, sender: around.sender };
  if (teamCue.test(sentence)) return { ...base, kind: 'DOC', ...teamFinding(sentence, around) };
  if (/[?？]\s*$/.test(sentence)) return null;
  const end = endOf(sentence, around.at);
  if (end) {
    const rest =
      around.after && continuation.test(around.after) ? ` ${toThirdPerson(around.after, around.sender)}` : '';
    const content = attributed(sentence, around, `until ${isoDay(end)}`) + rest;
    return { ...base, kind: 'SHORT', content, ttl_days: ttlDays(end, around.at) };
  }
  if (otherLanguages.some((cue) => cue.test(sentence))) {
    const who = around.sender || 'Somebody';
    return { ...base, kind: 'LONG', content: `${who} said on ${isoDay(around.at)}: "${oneLine(sentence, 300)}"` };
  }
  if (!Object.values(english).some((cue) => cue.test(sentence))) return null;
  return { ...base, kind: 'LONG', content: attributed(sentence, around) };
}

/** The day on which a state ends that the sentence speaks of; null where it speaks of none. */
function endOf(sentence: string, at: Date): Date | null {
  const dates = datesIn(sentence, at);
  const until = untilCue.exec(sentence);
  const named = until && dates.find((date) => date.index > until.index && !date.vague);
  if (named) return named.day;
  const vague = dates.find((date) => date.vague);
  return vague && stateCue.test(sentence) ? vague.day : null;
}

function teamFinding(
  sentence: string,
  { before, sender }: Surroundings,
): Pick<Draft, 'content' | 'target_hint' | 'rationale'> {
  const refersBack = before !== undefined && /^(?:this|that|it|the|so)\b|\bshould know\b/i.test(sentence);
  const found = page.exec(sentence);
  const qualifier = found?.[1]?.replace(/\b(?:the|our|in|into|a|to)\s/gi, '') ?? '';
  return {
    content: toThirdPerson(refersBack ? `${before} ${sentence}` : sentence, sender || 'Somebody'),
    target_hint: found ? `${qualifier}${found[2]}`.toLowerCase() : 'team handbook',
    rationale: `${sender || 'The sender'} says that it concerns more people than this agent.`,
  };
}

/** The sentence as a fact about the one who said it; `note` stands in brackets with the source. */
function attributed(sentence: string, { sender, at }: Surroundings, note?: string): string {
  const name = sender || 'Somebody';
  const bare = sentence
    .replace(/^(?:and|but|also|so|heads[- ]up|fyi|btw)\b[\s,]*(?:@[\w-]+)?:?\s*/i, '')
    .replace(/^[^:]{0,80}:\s+(?=\S)/, '')
    .replace(/\bfrom now on\b/gi, `from ${isoDay(at)} on`)
    .replace(/[\s.!。]+$/u, '');
  const wish = /^(.*?)\bplease (always|never|don['’]t|do not) (.*)$/i.exec(bare);
  const fact = wish ? wishOf(wish, name) : capitalised(toThirdPerson(bare, name));
  const told = sender && !fact.includes(sender) ? `told by ${sender}` : '';
  const notes = [note && !sentence.includes(note.slice(-10)) ? note : '', told].filter(Boolean).join('; ');
  return `${fact}${notes ? ` (${notes})` : ''}.`;
}

function wishOf([, lead = '', adverb = '', rest = '']: RegExpExecArray, name: string): string {
  const verb = { always: 'to always', never: 'never to' }[adverb.toLowerCase()] ?? 'not to';
  const condition = /\b(?:when|whenever|if|before|after)\b/i.test(lead) ? capitalised(toThirdPerson(lead, name)) : '';
  return `${condition}${name} wants the agent ${verb} ${toThirdPerson(rest, name, true)}`;
}

/** The draft against what is known: said before → nothing; the opposite of something known → that is superseded. */
function reconciled(draft: Draft, known: readonly Candidate[]): PersistAnswer {
  const { said, sender, ...answer } = draft;
  if (draft.kind === 'DOC') return answer;
  const fresh = contentWords(draft.content);
  const superseded: number[] = [];
  for (const { n, text } of known) {
    if (isAboutAnother(text, sender)) continue;
    const old = contentWords(text);
    for (const word of contentWords(sender)) old.delete(word);
    const shared = [...old].filter((word) => fresh.has(word)).length;
    const share = old.size === 0 ? 0 : shared / old.size;
    const sameNumbers = numbersIn(text).join() === numbersIn(draft.content).join();
    if (share >= 0.8 && sameNumbers && !reversalCue.test(said)) return NOTHING;
    if (shared >= 2 && share >= 0.5 && (reversalCue.test(said) || (share >= 0.8 && !sameNumbers))) superseded.push(n);
  }
  return superseded.length > 0 ? { ...answer, supersedes: superseded } : answer;
}

/** One person's wish says nothing about another's, however alike the words. */
function isAboutAnother(fact: string, sender: string): boolean {
  const holder = /(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)+) (?:prefers|wants|needs|said|no longer)\b/u.exec(fact)?.[1];
  return holder !== undefined && sender !== '' && holder !== sender;
}

function numbersIn(text: string): string[] {
  return text.match(/\d+/g) ?? [];
}
