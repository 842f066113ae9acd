import type { Database } from '../database/database.js';
import { decodeCursor, pageOf, type Page, type PageRequest } from './page.js';

/** A list of rows with a uuid and a time to the millisecond. */
export interface KeysetList<Row, Item> {
  /** What one item is made of. */
  columns: string;
  /** Table, with its joins. */
  from: string;
  /** Condition with `$1`, `$2`, … for `parameters`. */
  filter: string;
  parameters: readonly unknown[];
  /** SQL expression of the time that orders the list. */
  time: string;
  /** SQL expression of the id that orders rows of the same time. @default id */
  id?: string;
  request: PageRequest;
  position: (row: Row) => readonly [Date, string];
  view: (row: Row) => Item;
}

/** One page, newest first, and how many rows there are in all; rows that come in meanwhile shift nothing. */
export async function keysetList<Row, Item>(database: Database, list: KeysetList<Row, Item>): Promise<Page<Item>> {
  const { columns, from, filter, parameters, time, id = 'id', request } = list;
  const after = decodeCursor(request.cursor);
  const next = parameters.length + 1;
  const rows = await database.query<Row>(
    `select ${columns} from ${from} where ${filter}
       and ($${next}::timestamptz is null or (${time}, ${id}) < ($${next}, $${next + 1}::uuid))
     order by ${time} desc, ${id} desc limit $${next + 2}`,
    [...parameters, after?.at ?? null, after?.id ?? null, request.limit + 1],
  );
  const [count] = await database.query<{ total: number }>(
    `select count(*)::int as total from ${from} where ${filter}`,
    parameters,
  );
  return pageOf({ rows, limit: request.limit, total: count!.total, position: list.position, view: list.view });
}
