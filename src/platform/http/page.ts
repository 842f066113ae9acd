import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { ApiError } from './api-error.js';

export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** The paging part of every list's query string. */
export class PageQuery implements PageRequest {
  /** Items a page. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit: number = 50;

  /** `next_cursor` of the page before. */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  cursor?: string;
}

export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
  total: number;
}

/** Lists are ordered by a time and an id, newest first; a cursor is the last item's pair. */
export function decodeCursor(
  cursor: string | undefined,
  isId: (id: string) => boolean = isUuid,
): { at: Date; id: string } | null {
  if (cursor === undefined) return null;
  // Fourteen digits end in the year 5138; a time that Postgres does not know must not reach it.
  const match = /^(\d{1,14})_([0-9a-z-]{1,64})$/i.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match || !isId(match[2]!)) {
    throw new ApiError(422, 'request.invalid', 'The request is not valid.', [
      { path: 'cursor', message: 'cursor must be the next_cursor of a page of this list' },
    ]);
  }
  return { at: new Date(Number(match[1])), id: match[2]! };
}

/** `rows` holds one row more than `limit` where there is a next page. */
export function pageOf<Row, Item>(list: {
  rows: readonly Row[];
  limit: number;
  total: number;
  position: (row: Row) => readonly [Date, string];
  view: (row: Row) => Item;
}): Page<Item> {
  const shown = list.rows.slice(0, list.limit);
  const last = shown.at(-1);
  const more = list.rows.length > list.limit && last !== undefined;
  return {
    items: shown.map(list.view),
    next_cursor: more ? encodeCursor(list.position(last)) : null,
    total: list.total,
  };
}

function encodeCursor([at, id]: readonly [Date, string]): string {
  return Buffer.from(`${at.getTime()}_${id}`, 'latin1').toString('base64url');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
