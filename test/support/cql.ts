/** What the one form of query that the service may send says. */
export interface ParsedCql {
  /** Null: no space clause. */
  spaces: string[] | null;
  types: string[];
  /** The literal of `text ~`, unescaped. */
  text: string;
  orderBy: string | null;
}

type Token = { kind: 'word' | 'string' | 'sign'; text: string };

/**
 * A small reader of the Confluence Query Language, written without the service's own: clauses of `space`, `type` and `text`
 * joined by AND, and ORDER BY. Throws for everything else, as the vendor refuses what it cannot parse.
 *
 * @see https://developer.atlassian.com/server/confluence/advanced-searching-using-cql/
 */
export function parseCql(cql: string): ParsedCql {
  const tokens = tokensOf(cql);
  let at = 0;
  const peek = (): Token | undefined => tokens[at];
  const take = (kind: Token['kind'], text?: string): string => {
    const token = tokens[at];
    const right = token?.kind === kind && (text === undefined || token.text.toUpperCase() === text);
    if (!right) throw new Error(`Could not parse cql : ${cql}`);
    at += 1;
    return token.text;
  };
  const value = (): string => (peek()?.kind === 'string' ? take('string') : take('word'));
  const parsed: ParsedCql = { spaces: null, types: [], text: '', orderBy: null };
  const texts: string[] = [];
  for (;;) {
    const field = take('word').toLowerCase();
    if (field === 'space' && parsed.spaces === null) {
      take('word', 'IN');
      take('sign', '(');
      parsed.spaces = [value()];
      while (peek()?.text === ',' && peek()?.kind === 'sign') {
        take('sign', ',');
        parsed.spaces.push(value());
      }
      take('sign', ')');
    } else if (field === 'type') {
      take('sign', '=');
      parsed.types.push(value());
    } else if (field === 'text') {
      take('sign', '~');
      texts.push(take('string'));
    } else {
      throw new Error(`Could not parse cql : ${cql}`);
    }
    const next = peek();
    if (!next) break;
    if (next.text.toUpperCase() === 'ORDER') {
      take('word', 'ORDER');
      take('word', 'BY');
      parsed.orderBy = take('word');
      if (peek()) take('word');
      break;
    }
    take('word', 'AND');
  }
  if (at < tokens.length || texts.length !== 1) throw new Error(`Could not parse cql : ${cql}`);
  return { ...parsed, text: texts[0]! };
}

function tokensOf(cql: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s+|([A-Za-z_.][\w.]*)|([()=~,])|"((?:[^"\\]|\\[^])*)"/gy;
  while (pattern.lastIndex < cql.length) {
    const from = pattern.lastIndex;
    const match = pattern.exec(cql);
    if (!match) throw new Error(`Could not parse cql at ${from} : ${cql}`);
    const [, word, sign, quoted] = match;
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else if (quoted !== undefined) tokens.push({ kind: 'string', text: quoted.replace(/\\([^])/g, '$1') });
  }
  return tokens;
}

/**
 * The words that a literal of `text ~` asks for, all of them. Throws where the literal is no plain list of words for Lucene's
 * classic query parser: operators, wildcards, fields, groups, phrases.
 *
 * @see https://lucene.apache.org/core/4_4_0/queryparser/org/apache/lucene/queryparser/classic/package-summary.html
 */
export function luceneWords(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  for (const word of words) {
    if (/[!(){}[\]^"~*?:\\/]|^[+-]|&&|\|\|/.test(word) || /^(?:AND|OR|NOT|TO)$/.test(word)) {
      throw new Error(`Could not parse cql : "${word}" is an operator`);
    }
  }
  return words;
}
