/**
 * Orders about what the reader itself is going to say. A memory, a note on a person or a page tells of the world; one
 * that orders its reader to disguise its answer, or to plant something in it, steers whoever is answered next. These are
 * the task-irrelevant and targeted kinds of indirect injection of Yi et al., "Benchmarking and Defending Against
 * Indirect Prompt Injection Attacks on Large Language Models" (arXiv:2312.14197), and OWASP LLM01, "indirect injection".
 *
 * All gaps are bounded, so that the time is linear in the length of the text.
 */
const GAP = (words: number): string => `(?:[\\w'’,()=/-]{1,40}\\s+){0,${words}}?`;
const OWN = '(?:your|ur)\\s+(?:(?:next|final|own|whole|entire|future|every|written)\\s+)?';
const ANSWER = `${OWN}(?:answers?|response|responses|reply|replies|output|summary|completion)\\b`;
/** What is disguised may also be a message. */
const TEXT = `${OWN}(?:answers?|response|responses|reply|replies|output|summary|completion|messages?)\\b`;

/** Not behind these is a verb an order: they make of it an offer, a tale or a prohibition. */
const NO_ORDER =
  "(?<!\\b(?:to|not|never|n['’]t|i|we|they|he|she|it|who|which|that|can|could|may|might|would|will|did|does|users|customers|people|attackers)\\s)";
const order = (source: string): RegExp => new RegExp(`${NO_ORDER}\\b${source}`, 'giu');

const LETTERS = '(?:letters?|vowels?|consonants?|alphabet)\\b';
const UNITS = '(?:letters?|characters?|vowels?|consonants?|syllables?|words?|keywords?|spelling)\\b';
const CODES =
  '(?:substitution|ciphers?|cipher ?text|caesar|atbash|vigen[eè]re|rot-?\\s?\\d+|base-?\\s?(?:16|32|58|64|85)|morse|leet(?:speak)?|l33t|1337|' +
  'anagram\\w*|misspell\\w*|typos|scrambled|jumbled|garbled|reversed|hexadecimal|binary|pig latin|braille|semaphore|emojis?|ascii codes?)\\b';
const SAY =
  '(?:provide|give|write|render|deliver|present|return|format|encode|encrypt|encipher|send|express|phrase|compose|type|formulate|print|convert|translate|transform|turn|put|spell|make|output|state)';

/** The answer is to be made hard to read: for people, and for whatever watches what an agent says. */
const DISGUISES: readonly RegExp[] = [
  `(?:replace|substitute|swap|exchange|convert|turn|change|map|shift)\\s+${GAP(4)}${LETTERS}\\s+${GAP(10)}${TEXT}`,
  `(?:replace|substitute|swap|convert|translate|turn)\\s+${GAP(4)}(?:words?|nouns?|verbs?|phrases?)\\s+${GAP(6)}(?:emojis?|symbols?|numbers?|digits?|codes?)\\s+${GAP(5)}${TEXT}`,
  `(?:replace|substitute|swap|convert|translate|turn)\\s+${GAP(4)}(?:words?|nouns?|verbs?|phrases?)\\s+(?:of|in)\\s+${TEXT}\\s+${GAP(4)}(?:emojis?|symbols?|numbers?|digits?|codes?)`,
  `(?:use|write)\\s+${GAP(4)}(?:numbers?|digits?|symbols?|signs?|emojis?)\\s+(?:for|instead of|in place of)\\s+${GAP(3)}${UNITS}\\s+${GAP(4)}${TEXT}`,
  `(?:use|introduce|insert|add|sprinkle|include|make|put|scatter)\\s+${GAP(4)}(?:typos?|misspellings?|anagrams?|(?:spelling|typing|typographical) (?:errors?|mistakes?))\\s+${GAP(8)}${TEXT}`,
  `(?:scramble|jumble|shuffle|mix|misspell|mistype|garble|anagram|rearrange|reorder|reverse|invert|flip)\\s+${GAP(5)}${UNITS}\\s+${GAP(5)}${TEXT}`,
  `(?:scramble|jumble|garble|misspell|anagram|encipher|encrypt)\\s+${TEXT}`,
  `(?:scramble|jumble|shuffle|rearrange|reorder|reverse|invert|flip)\\s+${TEXT}['’]s\\s+${GAP(2)}${UNITS}`,
  `(?:use|apply)\\s+${GAP(4)}(?:ciphers?|substitution|base-?(?:16|32|58|64|85)|rot-?\\d+|morse code|leetspeak|anagrams|pig latin)\\s+${GAP(7)}(?:for|to|in|on|throughout)\\s+${TEXT}`,
  `${SAY}\\s+${GAP(2)}${TEXT}\\s+${GAP(2)}(?:using|in|with|by|as|into|to|through|via)\\s+${GAP(4)}${CODES}`,
  `(?:encode|encrypt|encipher)\\s+${TEXT}\\s+(?:using|in|with|as|into|to|via)\\s+${GAP(3)}${CODES}`,
  `${SAY}\\s+${GAP(2)}${TEXT}\\s+(?:backwards?|in reverse\\b|upside down|from right to left|from back to front|reversed)`,
  `${SAY}\\s+${GAP(2)}${TEXT}\\s+${GAP(2)}(?:without|with no|with neither)\\s+${GAP(2)}(?:spaces|vowels|whitespace|punctuation)`,
  `(?:remove|omit|drop|delete|strip|eliminate|leave out)\\s+${GAP(3)}(?:spaces|vowels|consonants|whitespace|spacing)\\s+${GAP(5)}${TEXT}`,
  `(?:group|chunk|cluster|batch|split)\\s+${GAP(3)}(?:letters|characters)\\s+${GAP(4)}${TEXT}`,
  `(?:combine|join|merge|concatenate|fuse|glue)\\s+${GAP(3)}words\\s+${GAP(4)}${TEXT}`,
].map(order);

const ADDRESS =
  '(?:https?://|www\\.)[^\\s"\'”]{3,200}|[\\w-]{2,60}\\.(?:com|net|org|io|xyz|info|biz|app|site|online|example)\\b';
const PIECE =
  `(?:["“][^"”]{1,300}["”]|['‘][^'’]{1,300}['’]|${ADDRESS}|(?:an?|the|some|one|this)\\s+(?:[\\w-]{1,30}\\s+){0,3}?` +
  '(?:sentence|statement|paragraph|line|phrase|headline|reminder|tip|reason|appeal|recommendation|endorsement|advert|advertisement|ad|' +
  'promotion|plug|slogan|link|claim|call to action|testimonial|mention|suggestion|encouragement|invitation|warning|fact|story|rumou?r)\\b)';
/** Up to the end of a sentence; a full stop inside of an address ends none. */
const REST = '(?:[^.!?]|[.!?](?!\\s)){0,200}?';
/** A piece about the reader itself is what people ask each other for. */
const ABOUT_OTHERS = `(?!\\s+(?:to|of|with|about|from)\\s+(?!${ANSWER})(?:you|your|yours)\\b)`;
const TO_VERB =
  'to\\s+(?!(?:the|an?|this|that|these|those|my|our|your|his|her|their|its|any|all|me|us|him|them|it)\\b)[a-z]+';

/** The answer is to carry what somebody else wants said. */
const PLANTS: readonly RegExp[] = [
  `(?:modify|augment|enhance|adjust|alter|amend|extend|expand|embellish|enrich|supplement|slant|skew|bias|spin)\\s+${ANSWER}\\s+(?:${TO_VERB}|by\\s+[a-z]+ing\\b|with\\b)`,
  `(?:add|include|insert|integrate|incorporate|embed|weave|work|slip|sneak|inject|append|plant|put|place|drop)\\s+(?:in\\s+)?${PIECE}${ABOUT_OTHERS}${REST}\\s(?:in|into|to|within|onto|at the (?:end|start|beginning|top|bottom) of)\\s+${ANSWER}`,
  `(?:in|within|throughout|at the end of)\\s+${ANSWER},?\\s+(?:please\\s+|also\\s+|always\\s+|subtly\\s+)?(?:suggest|recommend|encourage|urge|persuade|convince|promote|advertise|endorse|tease|hint|claim|assert|pretend|invite|redirect|praise|imply|insinuate|steer|lure|entice|discourage|discredit)\\s+(?!(?:us|me|your|whether|if|what|which|how|when|where|why)\\b)`,
  `(?:in|within|throughout|at the end of)\\s+${ANSWER},?\\s+(?:please\\s+|also\\s+|always\\s+)?(?:tell|inform|advise|direct|send|remind|ask|warn|point)\\s+(?:the\\s+|all\\s+|any\\s+)?(?:users?|readers?|people|everyone|everybody|customers?|visitors?)\\b`,
].map(order);

/** What makes of a planted sentence a trap, whoever may give orders. */
const LURE = new RegExp(
  `(?:${ADDRESS})[^\\n]{0,200}?\\b(?:download|install|update|crack|free|boost|protect|visit|click|rich)|` +
    `\\b(?:download|install|update|crack(?:ed)?|free|click|sign up|linking|pointing|directing|offering)\\b[^\\n]{0,200}?(?:${ADDRESS})|` +
    "\\b(?:virus|malware|trojan|fake|phishing|scam|cracked|non-?existent|untrue|isn['’]t (?:true|actually)|false (?:claim|information|rumou?r))\\b",
  'iu',
);

/** Text that speaks to whatever machine reads it, and orders it something. */
const TO_MACHINES: readonly RegExp[] = [
  /\b(?:if|when|since|as|because)\s+you(?:\s+are|['’]re)\s+(?:reading this as\s+)?(?:an?\s+)?(?:AI|LLM|large language model|language model|AI (?:assistant|agent|model)|chat ?bot|bot)\b[^.!?\n]{0,120}\b(?:must|should|have to|please|ignore|include|insert|send|forward|reply|respond|answer|say|recommend|rate|approve)\b/giu,
  /\b(?:without|do not|don['’]t|never)\s+(?:tell|telling|inform|informing|notify|notifying|alert|alerting|let|letting)\s+(?:the\s+|any\s+|your\s+)?(?:user|human|operator|owner)s?\s+(?:know\s+)?(?:about\s+|of\s+|that\s+)?(?:this|these|you)\s+(?:instructions?|message|prompt|note|e-?mail|order|(?:were|have been|got|received))\b/giu,
];

/** An image whose address takes what was said along: it is fetched as soon as it is shown (OWASP LLM02, Rehberger 2023). */
const LEAKING_IMAGES: readonly RegExp[] = [
  /!\[[^\]\n]{0,100}\]\(https?:\/\/[^)\s]{1,300}[?&/=][{<[](?:[\w -]{0,30})(?:conversation|history|chat|context|prompt|secret|password|token|api.?key|e-?mail|data|summary|message)/giu,
];

export interface SteeringRule {
  patterns: readonly RegExp[];
  /** What it finds, for an operator. */
  detail: string;
  /** Without a match of this one, which is quick, there is none of the others. */
  sign: RegExp;
  /** A procedure may say so as long as it sets no trap. */
  unlessLured: boolean;
}

const ANSWER_SIGN = new RegExp(`\\b${TEXT}`, 'iu');

export const STEERING: readonly SteeringRule[] = [
  { patterns: DISGUISES, detail: 'orders to disguise the answer', sign: ANSWER_SIGN, unlessLured: false },
  { patterns: PLANTS, detail: 'orders to plant something in the answer', sign: ANSWER_SIGN, unlessLured: true },
  {
    patterns: TO_MACHINES,
    detail: 'gives orders to whatever model reads it',
    sign: /\b(?:LLM|model|AI|bot|user|human|operator|owner)s?\b/iu,
    unlessLured: false,
  },
  { patterns: LEAKING_IMAGES, detail: 'orders to hand over secrets', sign: /!\[/u, unlessLured: false },
];

/** A sentence that leads to a download, or says itself that it is a deceit. */
export function isLure(sentence: string): boolean {
  return LURE.test(sentence);
}
