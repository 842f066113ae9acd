import type { Database } from '../../src/platform/database/database.js';

/** Tables that keep what an erasure leaves: the organisation document, and audit rows, which hold digests only. */
const LEFT = ['organizations', 'people', 'units', 'roles', 'migrations', 'typeorm_metadata'];

/** Where a word stands, as `table.column`, in any column of any table, the queue's included; case does not matter. */
export async function placesOf(database: Database, word: string): Promise<string[]> {
  const columns = await database.query<{ table: string; column: string }>(
    `select format('%I.%I', columns.table_schema, columns.table_name) as table, format('%I', column_name) as column
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and (table_schema = 'public' and table_name <> all($1)
       or table_schema = 'graphile_worker') order by 1, 2`,
    [LEFT],
  );
  const places: string[] = [];
  for (const { table, column } of columns) {
    const [found] = await database.query<{ text: string }>(
      `select ${column}::text as text from ${table} where position(lower($1) in lower(${column}::text)) > 0 limit 1`,
      [word],
    );
    if (found) places.push(`${table}.${column}: ${found.text.slice(0, 300)}`);
  }
  return places;
}
