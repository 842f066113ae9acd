import { storableText } from '../../platform/text/storable-text.js';
import { readMarkup, UNREAD } from './page-markup.js';

/** Elements that stand beside a word without ending it. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/** What keeps its line breaks. */
const VERBATIM = new Set(['pre', 'ac:plain-text-body']);

/**
 * The text of a page in HTML or in Confluence's storage format, a line a block, without markup. Never throws: what is no
 * markup is text.
 */
export function pageText(html: string): string {
  // Joined once: to look at the end of a text that grows costs a copy of it each time.
  const parts: string[] = [];
  let last = '\n';
  let unread = 0;
  let verbatim = 0;
  const add = (text: string): void => {
    if (text === '') return;
    parts.push(text);
    last = text.at(-1)!;
  };
  const breakLine = (name: string): void => {
    if (!INLINE.has(name) && last !== '\n') add('\n');
  };
  readMarkup(html, {
    onopentagname(name) {
      if (UNREAD.has(name)) unread += 1;
      if (VERBATIM.has(name)) verbatim += 1;
      breakLine(name);
    },
    ontext(data) {
      if (unread > 0) return;
      if (verbatim > 0) add(data);
      // One run of white space may come in two pieces.
      else add(data.replace(/\s+/g, ' ').replace(last === ' ' ? /^ / : '', ''));
    },
    onclosetag(name) {
      if (UNREAD.has(name)) unread -= 1;
      if (VERBATIM.has(name)) verbatim -= 1;
      breakLine(name);
    },
  });
  return storableText(parts.join(''))
    .replace(/\u00A0/g, ' ')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
