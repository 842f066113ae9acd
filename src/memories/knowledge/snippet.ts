import { clipText } from '../../platform/text/storable-text.js';
import { pageText } from './page-text.js';
import { luceneTerms } from './search-terms.js';

/** UTF-16 code units of a snippet. */
const SNIPPET_LIMIT = 200;

/** UTF-16 code units of markup that are looked through: a search brings a dozen pages, of a megabyte each if need be. */
const MARKUP_LIMIT = 200_000;

/** The line of a page that holds most of the query's words, the first of equals; `''` for a page without text. */
export function snippetOf(body: string, query: string): string {
  const words = luceneTerms(query).map((word) => word.toLowerCase());
  let best = '';
  let most = -1;
  for (const line of pageText(body.slice(0, MARKUP_LIMIT)).split('\n')) {
    if (line.trim() === '') continue;
    const folded = line.toLowerCase();
    const count = words.filter((word) => folded.includes(word)).length;
    if (count > most) [best, most] = [line.trim(), count];
  }
  return clipped(best);
}

/** At most 200 UTF-16 code units, the cut marked. */
export function clipped(text: string): string {
  return text.length <= SNIPPET_LIMIT ? text : `${clipText(text, SNIPPET_LIMIT - 1).trimEnd()}…`;
}
