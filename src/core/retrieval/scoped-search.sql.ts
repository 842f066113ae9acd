/** The tables that hold memories: when a row belongs to, what it shares with its neighbours, and how it begins. */
const TABLES = {
  agent_diary: { time: 'created_at', conversation: 'conversation_id', opening: null },
  episodes: { time: 'started_at', conversation: 'conversation_id', opening: 'opening' },
  counterparty_profiles: { time: 'created_at', conversation: 'null::text', opening: null },
} as const;

export type SearchableTable = keyof typeof TABLES;

/** A further condition on the rows, its parameters by name: `{ sql: 'kind = $kind', parameters: { kind: 'raw' } }`. */
export interface Condition {
  sql: string;
  parameters: Readonly<Record<string, unknown>>;
}

export interface Statement {
  sql: string;
  parameters: unknown[];
}

/** Whose rows, and which of them. */
export interface SearchScope {
  table: SearchableTable;
  orgId: string;
  agentId: string;
  where?: Condition;
}

export interface QueryVector {
  /** Only rows of this model are compared. */
  model: string;
  dimensions: number;
  /** As pgvector reads it; written once, since it takes longer than the search for a small agent. */
  literal: string;
}

/** `columns` and `distance` by exact cosine distance: inside one agent a scan is faster than an HNSW index, and right. */
export function exactVectorStatement(
  scope: SearchScope,
  vector: QueryVector,
  columns: string,
  limit: number,
): Statement {
  return statement((bind) => {
    const query = `${bind(vector.literal)}::vector`;
    // Vectors of another length under the same model name would fail the whole statement.
    return `select ${columns}, embedding <=> ${query} as distance from ${rowsOf(scope, bind)}
      and embedding_model = ${bind(vector.model)} and vector_dims(embedding) = ${bind(vector.dimensions)}
      order by distance, id limit ${bind(limit)}`;
  });
}

/** `columns` and `distance` by the approximate index of `createVectorIndex`; the conditions repeat its predicate word for word. */
export function indexedVectorStatement(
  scope: SearchScope,
  vector: QueryVector,
  columns: string,
  limit: number,
): Statement {
  return statement((bind) => {
    const { expression, predicate, cast } = indexTerms(vector);
    const distance = `${expression} <=> ${bind(vector.literal)}::${cast}`;
    return `select ${columns}, ${distance} as distance from ${rowsOf(scope, bind)} and ${predicate}
      order by ${distance}, id limit ${bind(limit)}`;
  });
}

/**
 * How an index is built. `concurrently` and `per_chunk` let writes go on and must not run in a transaction; the latter
 * is that of a hypertable, which knows no `concurrently`. `plain` is for the embedded database, which serves one at a time.
 */
export type IndexBuild = 'plain' | 'concurrently' | 'per_chunk';

/** HNSW index over the rows of one model and length. Partial, else it would refuse rows of another length. */
export function createVectorIndex(
  table: SearchableTable,
  name: string,
  vector: QueryVector,
  build: IndexBuild,
): string {
  const { expression, predicate } = indexTerms(vector);
  const [how, option] = [
    build === 'concurrently' ? 'concurrently' : '',
    build === 'per_chunk' ? 'with (timescaledb.transaction_per_chunk)' : '',
  ];
  return `create index ${how} if not exists ${name} on ${table} using hnsw ((${expression}) vector_cosine_ops) ${option} where ${predicate}`;
}

/** One row of `lexicalStatement`: every list has one entry a memory, in the order in which they were written. */
export interface LexicalHits {
  /** Joined by commas; null where there are no rows. */
  ids: string | null;
  /** Hashes of the conversation ids, `''` for none, joined by commas. */
  conversations: string | null;
  lengths: string | null;
  /** Numbers of the query's terms found in the memory, joined by blanks; the memories joined by commas. */
  terms: string | null;
  /** Tokens of the opening joined by blanks; the memories joined by commas. Null where the table has none. */
  openings: string | null;
}

/**
 * Which of the query's terms stand in which row. All rows of the scope come back, in three or four strings: their
 * number and neighbourhood are part of the ranking, and one wide row is read six times faster than 1,000 narrow ones.
 * Where none of them holds a term, none comes back.
 */
export function lexicalStatement(scope: SearchScope, tokens: readonly string[], termLimit: number): Statement {
  const { time, conversation, opening } = TABLES[scope.table];
  const order = `order by ${time}, id`;
  const openings = opening ? `string_agg(${opening}, ',' ${order})` : 'null::text';
  return statement(
    (bind) => `with term as materialized (
        select quote_literal(lexeme)::tsquery as query, (row_number() over (order by positions[1], lexeme))::text as number
        from unnest(to_tsvector('english', ${bind(tokens.join(' '))})) order by positions[1], lexeme limit ${bind(termLimit)}),
      any_term as materialized (select string_agg(query::text, ' | ')::tsquery as query from term)
      select string_agg(id::text, ',' ${order}) as ids,
        string_agg(coalesce(hashtextextended(${conversation}, 0)::text, ''), ',' ${order}) as conversations,
        string_agg(search_length::text, ',' ${order}) as lengths, ${openings} as openings,
        string_agg(case when search @@ any_term.query
          then (select string_agg(number, ' ') from term where search @@ term.query) else '' end, ',' ${order}) as terms
      from any_term cross join ${rowsOf(scope, bind)}
        and exists (select from ${rowsOf(scope, bind)} and search @@ (select query from any_term))`,
  );
}

/** Ids of the newest rows. */
export function recencyStatement(scope: SearchScope, limit: number): Statement {
  return statement(
    (bind) => `select id from ${rowsOf(scope, bind)}
      order by ${TABLES[scope.table].time} desc, id limit ${bind(limit)}`,
  );
}

/** Adds a parameter to the statement under construction and names it, e.g. `$5`. */
type Bind = (value: unknown) => string;

function statement(build: (bind: Bind) => string): Statement {
  const parameters: unknown[] = [];
  const sql = build((value) => `$${parameters.push(value)}`);
  return { sql, parameters };
}

function rowsOf({ table, orgId, agentId, where }: SearchScope, bind: Bind): string {
  const own = `${table} where org_id = ${bind(orgId)} and agent_id = ${bind(agentId)}`;
  return where ? `${own} and (${numbered(where, bind)})` : own;
}

function numbered({ sql, parameters }: Condition, bind: Bind): string {
  const numbers = new Map<string, string>();
  return sql.replace(/\$([a-z_]\w*)/gi, (_, name: string) => {
    if (!Object.hasOwn(parameters, name)) throw new Error(`a condition names $${name} and gives no value for it`);
    const number = numbers.get(name) ?? bind(parameters[name]);
    numbers.set(name, number);
    return number;
  });
}

function indexTerms({ model, dimensions }: QueryVector): { expression: string; predicate: string; cast: string } {
  const cast = `vector(${dimensions})`;
  const name = `'${model.replaceAll("'", "''")}'`;
  return {
    cast,
    expression: `(embedding::${cast})`,
    predicate: `embedding_model = ${name} and vector_dims(embedding) = ${dimensions}`,
  };
}

export function vectorLiteral(values: readonly number[]): string {
  return `[${values.join(',')}]`;
}
