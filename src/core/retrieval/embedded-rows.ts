import type { Database } from '../../platform/database/database.js';
import type { EmbeddedRows } from '../../platform/embeddings/reembedding.js';
import type { SearchableTable } from './scoped-search.sql.js';

/**
 * How the re-embedding job finds and fills the rows of a table of memories.
 *
 * @param source `text` is the SQL expression of what is embedded; rows for which it is blank are left alone
 */
export function embeddedRows(
  database: Database,
  source: { table: SearchableTable; text: string; where?: string },
): EmbeddedRows {
  const { table, text, where = 'true' } = source;
  return {
    table,
    missing: (model, limit) =>
      database.query(
        `select id, ${text} as text from ${table}
         where embedding_model is distinct from $1 and ${where} and btrim(${text}) <> '' order by id limit $2`,
        [model, limit],
      ),
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
