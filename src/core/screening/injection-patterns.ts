import { isLure, STEERING } from './answer-steering.js';
import { shipsKeyFile } from './key-files.js';
import { occurrences, type Occurrence } from './occurrences.js';
import type { TextKind } from './text-kind.js';

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
  /(?<!`)<\|(?:im_start|start_header_id)\|>\s{0,40}(?:system|developer|assistant|user)\b/iu,
  /^[ \t]{0,40}<\|(?:system|developer|assistant|user)\|>/imu,
  /(?<!`)(?:<<SYS>>|\[INST\])\s{0,40}[^\s`]/u,
  /<(?:system|developer|assistant)(?:[-_ ](?:prompt|message|instructions?|reminder))?>[^<]{0,400}\b(?:you|your|must|ignore|instructions?)\b/iu,
  /^[ \t#*>[(]{0,40}(?:system|developer|admin(?:istrator)?)\s{1,10}(?:override|prompt|instructions?|message|notice)\s{0,10}[\])*]{0,10}\s{0,10}:?[\])*]{0,10}\s{0,10}(?:you|ignore|disregard|forget|from now on|new)\b/imu,
  /^[ \t#*>]{0,40}(?:system|developer)\s{0,10}:\s{0,10}(?:you (?:are|must|will)|ignore|disregard|forget|from now on|new instructions)\b/imu,
  /\byou are now (?:in )?(?:DAN\b|(?:developer|jailbreak|god|unrestricted) mode|(?:an? )?(?:unrestricted|unfiltered|jailbroken))/iu,
];

const SECRET_THINGS =
  '(?:secrets?|passwords?|passphrases?|credentials?|(?:api|access|private|ssh|secret|signing|encryption)[ -]?(?:keys?|tokens?)|session cookies?|environment variables|env vars)';
const WHOSE = "(?:all|any|every|your|each)(?:\\s+(?:of|the|your|stored|saved|known|other|our|their|\\w+['’]s))*";

/** Orders to hand secrets over: with a destination, or for what only the reader of a system prompt has. */
const EXFILTRATIONS: readonly RegExp[] = [
  new RegExp(
    `(?:send|forward|e-?mail|mail|post|upload|leak|exfiltrate|transmit|deliver|submit|copy)\\s+(?:me\\s+)?${WHOSE}\\s+(?:[\\w-]+\\s+){0,2}?${SECRET_THINGS}[^.!?\\n]{0,80}?(?:\\bto\\s+(?:me|us|this|the following|\\S{1,200}@|https?:)|https?://)`,
    'giu',
  ),
  new RegExp(
    `(?:reveal|print|output|repeat|show|tell|give|disclose|dump|leak|display)\\s+(?:me\\s+|us\\s+)?(?:verbatim\\s+)?your\\s+(?:full\\s+|entire\\s+|exact\\s+|hidden\\s+|initial\\s+|original\\s+|secret\\s+)*(?:system prompt|system message|hidden instructions|initial instructions|developer message|secrets|credentials|passwords|api[ -]?keys?)\\b`,
    'giu',
  ),
];

/** Without these, which are quick to look for, there is no order of the kind. */
const OVERRIDE_SIGN = /ignor|disregard|forget|follow|obey|overrid|overrul|bypass|discard/iu;
const SECRET_SIGN =
  /secret|passw|passphrase|credential|keys?\b|token|cookie|env|prompt|hidden|initial|developer|system message/iu;

const EXPLAINING =
  /\b(?:prompt[- ]injections?|injections? attacks?|jailbreak(?:s|ing)?|attack(?:s|er|ers)?|adversar\w+|malicious(?:ly)?|phish\w*|untrusted|red[- ]team\w*|injected)\b/iu;
const QUOTE_BEFORE = /["'“‘«‹`「『][^"'”’»›`」』]{0,40}$/u;
const NEGATION = /\b(?:never|not|don['’]t|do not|won['’]t|cannot|can['’]t|without|avoid|refus\w+|nobody|no one)\b/iu;
const NEGATED = /\b(?:never|not|don['’]t)\s+$/iu;
const CLAUSE_START = new RegExp(`${ORDERING}$`, 'iu');

/** The order that letters set apart spell where no wider gap parts the words. */
const RUN_TOGETHER =
  /(?:ignore|disregard|forget|override|bypass)(?:all|any)?(?:of)?(?:the|your|my)?(?:previous|prior|above|earlier|preceding|system)(?:instructions?|prompts?|rules|directives)/iu;

/**
 * What a text orders its reader to do that no memory may order; null where there is nothing of the kind. What it says in
 * other guises is `otherGuises`'.
 */
export function findInjection(text: string, kind: TextKind): string | null {
  if (SPOOFED_ROLES.some((pattern) => pattern.test(text))) return 'plays the part of another speaker';
  const line = onOneLine(text);
  if (overrides(line)) return 'orders to ignore the instructions';
  if (shipsKeyFile(text) || exfiltrates(line)) return 'orders to hand over secrets';
  return findSteering(line, kind);
}

/** The order in it to ignore the instructions or to hand secrets over, also where its words run together. */
export function findOverride(text: string): string | null {
  const line = onOneLine(text);
  if (overrides(line) || (RUN_TOGETHER.test(line) && !EXPLAINING.test(line)))
    return 'orders to ignore the instructions';
  return exfiltrates(line) ? 'orders to hand over secrets' : null;
}

function overrides(line: string): boolean {
  if (OVERRIDES_ELSEWHERE.some((pattern) => pattern.test(line)) && !EXPLAINING.test(line)) return true;
  if (!OVERRIDE_SIGN.test(line)) return false;
  return (
    some(OVERRIDES, line, (found) => !isMention(found) && !NEGATED.test(found.before)) ||
    some(WEAKER_OVERRIDES, line, (found) => !isMention(found) && CLAUSE_START.test(found.before))
  );
}

function exfiltrates(line: string): boolean {
  return (
    SECRET_SIGN.test(line) && some(EXFILTRATIONS, line, (found) => !NEGATION.test(found.before) && !isMention(found))
  );
}

function findSteering(line: string, kind: TextKind): string | null {
  for (const { patterns, detail, sign, unlessLured } of STEERING) {
    if (!sign.test(line)) continue;
    const mayPass = kind === 'procedure' && unlessLured;
    if (some(patterns, line, (found) => !isMention(found) && (!mayPass || isLure(found.sentence)))) return detail;
  }
  return null;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

function some(patterns: readonly RegExp[], line: string, holds: (found: Occurrence) => boolean): boolean {
  for (const pattern of patterns) for (const found of occurrences(pattern, line)) if (holds(found)) return true;
  return false;
}

/**
 * In a passage that explains attacks, what is quoted or told of somebody ("an attacker asks the model to ignore …") is
 * a mention; a bare order to the reader is not.
 */
function isMention({ before, around }: Occurrence): boolean {
  return EXPLAINING.test(around) && (QUOTE_BEFORE.test(before) || !CLAUSE_START.test(before));
}
