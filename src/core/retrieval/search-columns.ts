import { searchTokens } from './tokens.js';

/** What a writer stores for the lexical arm: `search = to_tsvector('english', <search>)`, `search_length = <length>`. */
export interface SearchColumns {
  search: string;
  length: number;
}

export function searchColumns(text: string): SearchColumns {
  const tokens = searchTokens(text, 'document');
  return { search: tokens.join(' '), length: tokens.length };
}
