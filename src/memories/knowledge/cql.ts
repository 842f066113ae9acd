import type { Containers } from './knowledge-scope.js';
import { luceneTerms } from './search-terms.js';

/**
 * The query for pages of those spaces that hold every word of the text; null where it has no word. Nothing in the text is
 * read as syntax, neither CQL's nor Lucene's.
 *
 * @see https://developer.atlassian.com/server/confluence/advanced-searching-using-cql/
 * @see https://developer.atlassian.com/cloud/confluence/performing-text-searches-using-cql
 */
export function pageCql({ spaces, text }: { spaces: Containers; text: string }): string | null {
  const terms = luceneTerms(text);
  if (terms.length === 0) return null;
  const scope = spaces === null ? '' : `space IN (${spaces.map(literal).join(',')}) AND `;
  return `${scope}type = page AND text ~ ${literal(terms.join(' '))}`;
}

function literal(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
