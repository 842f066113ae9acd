import type { Database } from '../../platform/database/database.js';
import type { EmbeddedRows, UnembeddedRow } from '../../platform/embeddings/reembedding.js';
import type { SearchableTable } from './scoped-search.sql.js';

/**
 * How the re-embedding job finds and fills the rows of a table of memories.
 *
 * @param source `text` is the SQL expression of what is embedded; rows for which it is blank are left alone.
 *   The table has an index on `embedding_model` and `id`, of the rows of `where`
 */
export function embeddedRows(
  database: Database,
  source: { table: SearchableTable; text: string; where?: string },
): EmbeddedRows {
  const { table, text, where = 'true' } = source;
  return {
    table,
    async missing(model, limit, after) {
      const found: UnembeddedRow[] = [];
      for (const { condition, parameters } of rangesOfOtherModels(model, after)) {
        if (found.length === limit) break;
        const rows = await database.query<UnembeddedRow>(
          `select id, embedding_model, ${text} as text from ${table}
           where ${condition} and ${where} and btrim(${text}) <> ''
           order by embedding_model, id limit $1`,
          [limit - found.length, ...parameters],
        );
        found.push(...rows);
      }
      return found;
    },
    async backlog(model, most) {
      let count = 0;
      for (const { condition, parameters } of rangesOfOtherModels(model, undefined)) {
        if (count >= most) break;
        const [row] = await database.query<{ count: number }>(
          `select count(*)::int as count from (
             select 1 from ${table} where ${condition} and ${where} and btrim(${text}) <> '' limit $1) as row`,
          [most - count, ...parameters],
        );
        count += row!.count;
      }
      return count;
    },
    async save(rows, model) {
      await database.query(
        `update ${table} set embedding = given.embedding::vector, embedding_model = $2
         from jsonb_to_recordset($1::jsonb) as given(id uuid, text text, embedding text)
         where ${table}.id = given.id and ${text} = given.text`,
        [JSON.stringify(rows.map((row) => ({ ...row, embedding: JSON.stringify(row.embedding) }))), model],
      );
    },
  };
}

/** Each is one stretch of the index: the models before this one, those after it, and no vector at all. */
function rangesOfOtherModels(
  model: string,
  after: UnembeddedRow | undefined,
): { condition: string; parameters: string[] }[] {
  if (after?.embedding_model === null)
    return [{ condition: 'embedding_model is null and id > $2', parameters: [after.id] }];
  const rest = after ? ' and (embedding_model, id) > ($3, $4)' : '';
  const parameters = after ? [model, after.embedding_model, after.id] : [model];
  return [
    { condition: `embedding_model < $2${rest}`, parameters },
    { condition: `embedding_model > $2${rest}`, parameters },
    { condition: 'embedding_model is null', parameters: [] },
  ];
}
