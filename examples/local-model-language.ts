const STOP_WORDS = new Set(
  `a about after again all also am an and any are as ask asked at away be because been before but by can cannot could
  did do does doesn don every for from get give go got had has have he her here him his how i if in into is it its just
  let ll ln like may me meanwhile more most my need needs no not now of off on one only or other our out over own please
  re said say says she should since so some such take tell than thank thanks that the their them then there these they
  this those to told too up us ve very want wants was we were what when where which while who why will with would you
  your agent always never longer january february march april june july august september october november december`.split(
    /\s+/,
  ),
);

const MODALS = new Set('can cannot could will would shall should must may might cant wont dont never'.split(' '));
const PAST = new Set(
  'was were had did lost rang sent said told got went took gave found made saw knew nearly'.split(' '),
);

const segmenters = {
  word: new Intl.Segmenter('en', { granularity: 'word' }),
  sentence: new Intl.Segmenter('en', { granularity: 'sentence' }),
};

/** The words of a text that carry its meaning, folded and roughly stemmed; numbers and dates are not among them. */
export function contentWords(text: string): Set<string> {
  const words = new Set<string>();
  const bare = text.replace(/\([^()]*\d{4}-\d\d-\d\d[^()]*\)/g, ' ').replace(/\(told by [^()]*\)/g, ' ');
  for (const { segment, isWordLike } of segmenters.word.segment(bare.toLowerCase())) {
    if (isWordLike && !STOP_WORDS.has(segment) && !/^[\d.,:]+$/.test(segment)) words.add(stem(segment));
  }
  return words;
}

/** Names of services and the like, e.g. `checkout-api`, and ticket keys, e.g. `PLAT-471`. */
export function identifiers(text: string): string[] {
  const found = text.match(/\b[A-Z]{2,}-\d+\b|\b[a-z]{3,}(?:-[a-z]{2,})+\b/g) ?? [];
  return [
    ...new Set(found.filter((word) => /[A-Z]|-(?:api|service|sync|ingest|db|worker|gateway|server)$/.test(word))),
  ];
}

/** The sentences of a text, each trimmed; a line break ends one too. */
export function sentences(text: string): string[] {
  const found = [...segmenters.sentence.segment(text.replace(/\n+/g, '\n'))].map(({ segment }) => segment.trim());
  return found.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** Joined on one line and clipped with an ellipsis, never inside an emoji. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= limit
    ? line
    : `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

/**
 * What `name` said of themselves, told by somebody else: "I prefer" → "Ada prefers", "you" → "the agent". With
 * `named` the name has been said already and a pronoun does.
 */
export function toThirdPerson(sentence: string, name: string, named = false): string {
  const subject = (): string => (named ? 'they' : ((named = true), name));
  return sentence
    .replace(/\bI['’]m\b/g, 'I am')
    .replace(/\bI['’]ve\b/g, 'I have')
    .replace(/\bI['’]d\b/g, 'I would')
    .replace(
      /\bI (?:(really|much|now|only|usually|no longer) )?([\w']+)/g,
      (_all, adverb: string | undefined, verb: string) => {
        const who = subject();
        return [who, adverb, who === 'they' ? plural(verb) : conjugated(verb)].filter(Boolean).join(' ');
      },
    )
    .replace(/\byou ([\w']+)/gi, (_all, verb: string) => `the agent ${conjugated(verb)}`)
    .replace(/\byour\b/gi, "the agent's")
    .replace(/\byou\b/gi, 'the agent')
    .replace(/\b(me|myself)\b/g, () => (named ? 'them' : ((named = true), name)))
    .replace(/\bmy\b/gi, () => (named ? 'their' : ((named = true), `${name}'s`)));
}

/** With a capital letter in front, unless the first word is a name such as `checkout-api`. */
export function capitalised(sentence: string): string {
  return /^[a-z]+[-_.\d]/.test(sentence) ? sentence : sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function stem(word: string): string {
  if (word.length <= 4 || /[^a-z]/.test(word)) return word.replace(/(?<=[a-z]{3})s$/, '');
  return word
    .replace(/(?:ies|y)$/, 'i')
    .replace(/(?:ings?|ed|es|s)$/, '')
    .replace(/e$/, '');
}

function plural(verb: string): string {
  return { am: 'are' }[verb] ?? verb;
}

function conjugated(verb: string): string {
  const irregular = { am: 'is', are: 'is', have: 'has', do: 'does', go: 'goes', "don't": "doesn't" }[verb];
  if (irregular) return irregular;
  if (MODALS.has(verb.replace(/n?'.*$/, '')) || PAST.has(verb) || /(?:(?<!^ne|^fe|ce)ed|ly|[^e]s)$|'/.test(verb))
    return verb;
  if (/(?:[sxz]|ch|sh)$/.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}
