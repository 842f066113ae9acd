/** Letters of other scripts that look like Latin ones (Unicode UTS 39, confusables), those that make English words. */
const LOOK_ALIKES = new Map(
  Object.entries({
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    у: 'y',
    х: 'x',
    і: 'i',
    ј: 'j',
    ѕ: 's',
    ԁ: 'd',
    һ: 'h',
    ԛ: 'q',
    ԝ: 'w',
    г: 'r',
    п: 'n',
    ɡ: 'g',
    ց: 'g',
    ո: 'n',
    ս: 'u',
    օ: 'o',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    ι: 'i',
    α: 'a',
    ε: 'e',
    κ: 'k',
    η: 'n',
    ɑ: 'a',
    ı: 'i',
    ⅼ: 'l',
    А: 'A',
    В: 'B',
    Е: 'E',
    К: 'K',
    М: 'M',
    Н: 'H',
    О: 'O',
    Р: 'P',
    С: 'C',
    Т: 'T',
    У: 'Y',
    Х: 'X',
    І: 'I',
    Ѕ: 'S',
    Ј: 'J',
    Α: 'A',
    Β: 'B',
    Ε: 'E',
    Ζ: 'Z',
    Η: 'H',
    Ι: 'I',
    Κ: 'K',
    Μ: 'M',
    Ν: 'N',
    Ο: 'O',
    Ρ: 'P',
    Τ: 'T',
    Υ: 'Y',
    Χ: 'X',
  }),
);
const MIXED = /[A-Za-z][а-яА-ЯёіјѕԁһԛԝІЅЈα-ωΑ-Ωɡցոսօɑı]|[а-яА-ЯёіјѕԁһԛԝІЅЈα-ωΑ-Ωɡցոսօɑı][A-Za-z]/u;
const LOOK_ALIKE = new RegExp(`[${[...LOOK_ALIKES.keys()].join('')}]`, 'gu');

/** Letters set apart by one mark each, at least eight of them; a wider gap parts words. */
const SPACED = /(?<![\p{L}\p{N}])[A-Za-z](?:[ .*_·|-]{1,3}[A-Za-z](?![A-Za-z])){7,2000}/gu;

const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
const LEET_WORD = /[a-z0-9@$!]{2,30}/giu;

/** Enough of an order to be worth decoding the text. */
const LEET_SIGN =
  /[i1!]n[s5$][t7]ruc[t7][i1!][o0]n|[i1!]gn[o0]r[e3]|d[i1!][s5$]r[e3]g[a4@]rd|f[o0]rg[e3][t7]|pr[o0]mp[t7]|[s5$][e3]cr[e3][t7]/iu;
const REVERSED = /snoitcurtsni|erongi|dragersid|tpmorp metsys/iu;
const ROTATED = /vafgehpgvba|vtaber|qvfertneq|flfgrz cebzcg/iu;

const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![A-Za-z0-9+/_-])/gu;
const HEX = /(?<![A-Za-z0-9])(?:[0-9a-f]{2}){16,2000}(?![A-Za-z0-9])/giu;
/** Encoded parts that are read of one text: what hides among more of them is not looked for. */
const MAX_PARTS = 200;
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/;

/**
 * What a text says in other guises that a model reads without being told how: look-alike letters, letters set apart,
 * digits for letters, backwards, ROT13, and base64 or hexadecimal parts. Only where there is a sign of one.
 */
export function otherGuises(text: string): string[] {
  const guises: string[] = [];
  if (MIXED.test(text)) guises.push(text.replace(LOOK_ALIKE, (letter) => LOOK_ALIKES.get(letter)!));
  const joined = text.replace(SPACED, together);
  if (joined !== text) guises.push(joined);
  if (LEET_SIGN.test(text)) guises.push(text.replace(LEET_WORD, inLetters), text.replace(LEET_WORD, withEll));
  if (REVERSED.test(text)) guises.push([...text].reverse().join(''));
  if (ROTATED.test(text)) guises.push(text.replace(/[a-z]/giu, rotated));
  return guises;
}

/** What the encoded parts of a text say, where they are text at all: hashes, images and keys are not. */
export function decodedParts(text: string): string[] {
  const parts: string[] = [];
  for (const [pattern, encoding] of [
    [BASE64, 'base64'],
    [HEX, 'hex'],
  ] as const) {
    let count = 0;
    for (const [part] of text.matchAll(pattern)) {
      if ((count += 1) > MAX_PARTS) break;
      const decoded = Buffer.from(part, encoding).toString('latin1');
      if (PRINTABLE.test(decoded)) parts.push(decoded);
    }
  }
  return parts;
}

/** Words are parted where the gap is wider than between letters; where it never is, they are tried as one. */
function together(spaced: string): string {
  return spaced.replace(/([ .*_·|-]{2,3})|[ .*_·|-]/gu, (_, wide: string | undefined) => (wide ? ' ' : ''));
}

/** A number, and a word that ends in an exclamation mark, is what it is. */
function inLetters(word: string): string {
  return /[a-z]/iu.test(word) ? word.replace(/[013457@$!](?!$)|[013457@$]$/gu, (sign) => LEET[sign]!) : word;
}

function withEll(word: string): string {
  return inLetters(word.replaceAll('1', 'l'));
}

function rotated(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}
