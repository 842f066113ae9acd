/** What makes of a sentence an order to the reader, directly before the verb. */
const ORDERING =
  '(?:^|[.!?:;,"\'“”‘’(\\[*>-]\\s*|\\b(?:and|then|please|now|must|should|shall|always|immediately|simply|just|also|first|next|so|or|kindly)\\s+|' +
  '\\byou (?:need|have|are(?: instructed| required| ordered)?) to\\s+|\\bwant you to\\s+)';

const IGNORE = "(?:ignore|disregard|forget|(?:do not|don['’]t|stop) (?:follow|obey)(?:ing)?)";
const OVERRIDE = `(?:${IGNORE}|override|overrule|bypass|discard)`;
const FILLERS = '(?:(?:all|any|every|each|the|your|of|these|those|other|and|or)\\s+){0,4}';
const EARLIER = '(?:previous|prior|earlier|above|preceding|foregoing)';
const INSTRUCTIONS = '(?:instructions?|prompts?|directives?|programming)';
const UP_TO_TWO_WORDS = '(?:[\\w-]+\\s+){0,2}?';

/** Orders to drop the instructions that the reader works under. `my` is left out: people correct themselves. */
const OVERRIDES: readonly RegExp[] = [
  `${OVERRIDE}\\s+${FILLERS}${EARLIER}\\s+${UP_TO_TWO_WORDS}${INSTRUCTIONS}\\b`,
  `${IGNORE}\\s+(?:all|any)(?:\\s+of)?\\s+(?:(?:the|your|these|those)\\s+)?(?:instructions|directives|programming)\\b`,
  `${IGNORE}\\s+your\\s+${UP_TO_TWO_WORDS}(?:${INSTRUCTIONS}|rules|guidelines|training)\\b`,
  `${IGNORE}\\s+(?:everything|anything|all)\\s+(?:(?:that|which)\\s+)?(?:(?:stands|is|was|written)\\s+)?(?:above|before this|you (?:were|have been|['’]ve been) (?:told|given|instructed))(?=\\s*(?:$|[.!?,;:"'”’)]|and\\b|before\\b|so far\\b|instead\\b))`,
].map((source) => new RegExp(source, 'giu'));

/** The same in words that people also use of other rules: only where it is plainly an order. */
const WEAKER_OVERRIDES: readonly RegExp[] = [
  `${IGNORE}\\s+${FILLERS}(?:${EARLIER}|system|initial|original|existing)\\s+${UP_TO_TWO_WORDS}(?:${INSTRUCTIONS}|rules|guidelines|commands|training|constraints)\\b`,
].map((source) => new RegExp(source, 'giu'));

/** The same order in other languages, where it is too peculiar to be said in passing. */
const OVERRIDES_ELSEWHERE: readonly RegExp[] = [
  /ignorier(?:e|en sie|t)\s+(?:bitte\s+)?(?:alle\s+)?(?:deine\s+|ihre\s+|die\s+)?(?:vorherigen|bisherigen|obigen|früheren)\s+(?:anweisungen|instruktionen|befehle)/iu,
  /ignore[sz]?\s+(?:toutes\s+)?(?:les|tes|vos)\s+(?:instructions|consignes|directives)\s+(?:précédentes|antérieures|ci-dessus)/iu,
  /ignor[ae]n?\s+(?:todas\s+)?(?:las|tus|sus)\s+(?:instrucciones|órdenes|indicaciones)\s+(?:anteriores|previas)/iu,
  /ignor[ae]\s+(?:todas\s+)?(?:as\s+|suas\s+)?instruções\s+(?:anteriores|prévias)/iu,
  /ignora\s+(?:tutte\s+)?(?:le|tue)\s+istruzioni\s+(?:precedenti|di cui sopra)/iu,
  /(?:за|про)?игнорируй(?:те)?\s+(?:все\s+)?предыдущие\s+(?:инструкции|указания|команды)/iu,
  /(?:忽略|无视|無視|忽視)[^。！？\n]{0,8}(?:之前|以前|先前|前面|以上|上述|上面)[^。！？\n]{0,8}(?:指令|指示|提示|命令)/u,
  /(?:以前|これまで|上記|前)の[^。！？\n]{0,8}(?:指示|命令|プロンプト)[^。！？\n]{0,8}無視/u,
  /(?:이전|앞의|위의)[^.!?\n]{0,8}(?:지시|명령|지침|프롬프트)[^.!?\n]{0,8}무시/u,
];

/** Text that plays the part of another speaker: chat markup and headings that only a system prompt has. */
const SPOOFED_ROLES: readonly RegExp[] = [
  /(?<!`)<\|(?:im_start|start_header_id)\|>\s*(?:system|developer|assistant|user)\b/iu,
  /^\s*<\|(?:system|developer|assistant|user)\|>/imu,
  /(?<!`)(?:<<SYS>>|\[INST\])\s*[^\s`]/u,
  /<(?:system|developer|assistant)(?:[-_ ](?:prompt|message|instructions?|reminder))?>[^<]{0,400}\b(?:you|your|must|ignore|instructions?)\b/iu,
  /^[\s#*>[(]*(?:system|developer|admin(?:istrator)?)\s+(?:override|prompt|instructions?|message|notice)\s*[\])*]*\s*:?[\])*]*\s*(?:you|ignore|disregard|forget|from now on|new)\b/imu,
  /^[\s#*>]*(?:system|developer)\s*:\s*(?:you (?:are|must|will)|ignore|disregard|forget|from now on|new instructions)\b/imu,
  /\byou are now (?:in )?(?:DAN\b|(?:developer|jailbreak|god|unrestricted) mode|(?:an? )?(?:unrestricted|unfiltered|jailbroken))/iu,
];

const SECRET_THINGS =
  '(?:secrets?|passwords?|passphrases?|credentials?|(?:api|access|private|ssh|secret|signing|encryption)[ -]?(?:keys?|tokens?)|session cookies?|environment variables|env vars)';
const WHOSE = "(?:all|any|every|your|each)(?:\\s+(?:of|the|your|stored|saved|known|other|our|their|\\w+['’]s))*";

/** Orders to hand secrets over: with a destination, or for what only the reader of a system prompt has. */
const EXFILTRATIONS: readonly RegExp[] = [
  new RegExp(
    `(?:send|forward|e-?mail|mail|post|upload|leak|exfiltrate|transmit|deliver|submit|copy)\\s+(?:me\\s+)?${WHOSE}\\s+(?:[\\w-]+\\s+){0,2}?${SECRET_THINGS}[^.!?\\n]{0,80}?(?:\\bto\\s+(?:me|us|this|the following|\\S+@\\S+|https?:)|https?://)`,
    'giu',
  ),
  new RegExp(
    `(?:reveal|print|output|repeat|show|tell|give|disclose|dump|leak|display)\\s+(?:me\\s+|us\\s+)?(?:verbatim\\s+)?your\\s+(?:full\\s+|entire\\s+|exact\\s+|hidden\\s+|initial\\s+|original\\s+|secret\\s+)*(?:system prompt|system message|hidden instructions|initial instructions|developer message|secrets|credentials|passwords|api[ -]?keys?)\\b`,
    'giu',
  ),
];

/** A command line that ships a key file off; naming the file or the command alone is harmless. */
const SHIPPED_FILE =
  /\b(?:curl|wget|nc|ncat|Invoke-WebRequest)\b[^\n]{0,200}(?:@|<|--post-file[= ]|-T\s*|\|\s*)\s*["']?(?:~|\$HOME|\/(?:root|home\/[\w.-]+|etc))?\/?[\w./-]{0,60}(?:\.ssh\/id_[a-z0-9]+(?!\.pub|[a-z0-9])|\.aws\/credentials|\.env\b|\/shadow\b|\.netrc\b)/iu;
const PIPED_FILE =
  /(?:\.ssh\/id_[a-z0-9]+(?!\.pub|[a-z0-9])|\.aws\/credentials|\.env|\/etc\/shadow|\.netrc)["']?\s*\|[^\n]{0,80}\b(?:curl|wget|nc|ncat)\b/iu;

const EXPLAINING =
  /\b(?:prompt[- ]injections?|injections? attacks?|jailbreak(?:s|ing)?|attack(?:s|er|ers)?|adversar\w+|malicious(?:ly)?|phish\w*|untrusted|red[- ]team\w*|injected)\b/iu;
const QUOTE_BEFORE = /["'“‘«‹`「『][^"'”’»›`」』]{0,40}$/u;
const NEGATION = /\b(?:never|not|don['’]t|do not|won['’]t|cannot|can['’]t|without|avoid|refus\w+|nobody|no one)\b/iu;
const NEGATED = /\b(?:never|not|don['’]t)\s+$/iu;
const CLAUSE_START = new RegExp(`${ORDERING}$`, 'iu');

/** What a text orders its reader to do that no memory may order; null where there is nothing of the kind. */
export function findInjection(text: string): string | null {
  if (SPOOFED_ROLES.some((pattern) => pattern.test(text))) return 'plays the part of another speaker';
  const line = text.replace(/\s+/gu, ' ').trim();
  const overrides =
    occurrences(OVERRIDES, line).some((found) => !isMention(found) && !NEGATED.test(found.before)) ||
    occurrences(WEAKER_OVERRIDES, line).some((found) => !isMention(found) && CLAUSE_START.test(found.before));
  if (overrides) return 'orders to ignore the instructions';
  if (OVERRIDES_ELSEWHERE.some((pattern) => pattern.test(line)) && !EXPLAINING.test(line)) {
    return 'orders to ignore the instructions';
  }
  if (SHIPPED_FILE.test(text) || PIPED_FILE.test(text)) return 'orders to hand over secrets';
  const exfiltrates = occurrences(EXFILTRATIONS, line).some(
    (found) => !NEGATION.test(found.before) && !isMention(found),
  );
  return exfiltrates ? 'orders to hand over secrets' : null;
}

interface Occurrence {
  /** From the start of the sentence to the match. */
  before: string;
  /** The sentence before that one, the text up to the match, and the rest of its sentence. */
  around: string;
}

function occurrences(patterns: readonly RegExp[], text: string): Occurrence[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ index, 0: match }) => {
      const head = text.slice(Math.max(0, index - 300), index);
      const sentences = head.split(/(?<=[.!?])\s+/u);
      const tail = text.slice(index, index + match.length + 200).split(/(?<=[.!?])\s+/u)[0] ?? '';
      return { before: sentences.at(-1) ?? '', around: `${sentences.slice(-2).join(' ')}${tail}` };
    }),
  );
}

/**
 * In a passage that explains attacks, what is quoted or told of somebody ("an attacker asks the model to ignore …") is
 * a mention; a bare order to the reader is not.
 */
function isMention({ before, around }: Occurrence): boolean {
  return EXPLAINING.test(around) && (QUOTE_BEFORE.test(before) || !CLAUSE_START.test(before));
}
