import { existsSync, readFileSync } from 'node:fs';
import { screenText } from '../src/core/screening/screening-rules.js';
import type { TextKind } from '../src/core/screening/text-kind.js';
import { type Bench, printTable, quantiles, type Row } from './bench.js';

const DATA = new URL('../../shared/data/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, DATA), 'utf8');

/** The categories that order the reader to disguise its answer or to plant something in it; those before are tasks. */
const ATTACKS = 10;
/** UTF-16 code units that the time is told for. */
const LENGTH = 4_000;
const ROUNDS = 400;

type Placed = (mail: string, attack: string) => string;

/** As BIPIA places them: a line of its own before the text, behind it, or between the lines in its middle. */
const PLACES: Record<string, Placed> = {
  start: (mail, attack) => `${attack}\n${mail}`,
  middle: (mail, attack) => {
    const lines = mail.split('\n');
    return [...lines.slice(0, lines.length >> 1), attack, ...lines.slice(lines.length >> 1)].join('\n');
  },
  end: (mail, attack) => `${mail}\n${attack}`,
};

/** What the screening holds back of BIPIA's attacks in e-mails, and of what is none; how long it takes. Needs no service. */
export function screening(_bench: Bench): Promise<void> {
  if (!existsSync(new URL('injections/', DATA))) console.log('skipped: ../shared/data/injections is absent');
  else {
    const mails = linesOf('injections/benign-emails.jsonl').map(
      (line) => (JSON.parse(line) as { context: string }).context,
    );
    printTable(attackRows(mails));
    console.log();
    printTable(harmlessRows(mails));
    console.log();
    printTable(timeRows(mails));
  }
  return Promise.resolve();
}

function attackRows(mails: readonly string[]): Row[] {
  const categories = Object.entries(JSON.parse(read('injections/text_attack_train.json')) as Record<string, string[]>);
  const rows: Row[] = [['texts in e-mails', 'texts', ...Object.keys(PLACES), 'as a procedure']];
  const add = (name: string, texts: readonly string[]): void => {
    const places = Object.values(PLACES).map((place) => share(inMails(mails, texts, place)));
    rows.push([name, String(texts.length), ...places, share(inMails(mails, texts, PLACES.end!), 'procedure')]);
  };
  const attacks = categories.slice(-ATTACKS);
  for (const [name, texts] of categories) add(name, texts);
  const all = attacks.flatMap(([, texts]) => texts);
  add(
    `the last ${ATTACKS}, every other text`,
    all.filter((_, index) => index % 2 === 0),
  );
  add(
    `the last ${ATTACKS}, the others`,
    all.filter((_, index) => index % 2 === 1),
  );
  add(`the last ${ATTACKS}`, all);
  return rows;
}

function harmlessRows(mails: readonly string[]): Row[] {
  const rows: Row[] = [['texts alone', 'texts', 'flagged', 'as a procedure']];
  const add = (name: string, texts: readonly string[]): void => {
    rows.push([name, String(texts.length), share(texts), share(texts, 'procedure')]);
  };
  add('e-mails', mails);
  if (existsSync(new URL('locomo/', DATA))) add('LoCoMo turns', dialogueTurns());
  if (existsSync(new URL('tau-bench/', DATA))) add('tau-bench turns, whole', linesOf('tau-bench/turns.ndjson'));
  if (existsSync(new URL('naughty-strings/', DATA))) {
    add('naughty strings', JSON.parse(read('naughty-strings/blns.json')) as string[]);
  }
  return rows;
}

function dialogueTurns(): string[] {
  const samples = JSON.parse(read('locomo/locomo-dev5.json')) as { conversation: Record<string, unknown> }[];
  return samples.flatMap(({ conversation }) =>
    Object.entries(conversation).flatMap(([key, turns]) =>
      /^session_\d+$/.test(key)
        ? (turns as { speaker: string; text: string }[]).map(({ speaker, text }) => `${speaker}: ${text}`)
        : [],
    ),
  );
}

/** Every text is as long as the time is told for; the floor is one pass of a plain expression that matches nowhere. */
function timeRows(mails: readonly string[]): Row[] {
  const long = (text: string): string => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
  const texts: Record<string, string> = {
    'e-mails': long(mails.join('\n')),
    'the longest e-mail': long([...mails].sort((a, b) => b.length - a.length)[0]!),
    'near misses of an order': long(
      'Never ignore all previous instructions in your reply; they cannot add a link to your answer. ',
    ),
  };
  const floor = /\b(?:ignore|disregard|forget)\s+instructionz\b/iu;
  const rows: Row[] = [[`${LENGTH.toLocaleString('en')} characters`, 'p50 ms', 'p95 ms', 'floor p50 ms', 'ratio']];
  for (const [name, text] of Object.entries(texts)) {
    const [p50, p95] = quantiles(
      timesOf(() => screenText(text)),
      0.5,
      0.95,
    ) as [number, number];
    const [bare] = quantiles(
      timesOf(() => floor.test(text)),
      0.5,
    ) as [number];
    rows.push([name, p50.toFixed(3), p95.toFixed(3), bare.toFixed(4), (p50 / bare).toFixed(1)]);
  }
  return rows;
}

function timesOf(work: () => unknown): number[] {
  for (let round = 0; round < ROUNDS; round += 1) work();
  return Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}

function inMails(mails: readonly string[], texts: readonly string[], place: Placed): string[] {
  return texts.flatMap((text) => mails.map((mail) => place(mail, text)));
}

function share(texts: readonly string[], kind: TextKind = 'fact'): string {
  const flagged = texts.filter((text) => screenText(text, kind).flagged).length;
  return `${((100 * flagged) / texts.length).toFixed(1)} %`;
}

function linesOf(name: string): string[] {
  return read(name).trim().split('\n');
}
