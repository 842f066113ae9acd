import { isUuid } from '../../platform/http/page.js';
import type { Database } from '../../platform/database/database.js';
import { LineProblem } from './personal-data.models.js';
import type { ExportedTable, Row } from './personal-table.js';

interface Column {
  name: string;
  type: string;
  nullable: boolean;
}

const INTEGERS: Readonly<Record<string, number>> = { int4: 2 ** 31 - 1, int8: Number.MAX_SAFE_INTEGER };
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** The columns of an exported table as the database has them: what a line of it must look like. */
export class TableColumns {
  private columns: Promise<Column[]> | undefined;

  constructor(
    private readonly database: Database,
    private readonly name: string,
    private readonly exported: ExportedTable,
  ) {}

  async types(): Promise<Map<string, string>> {
    return new Map((await this.read()).map(({ name, type }) => [name, type]));
  }

  /** The row of a line, its columns checked one by one; throws `LineProblem` for the first that is wrong. */
  async rowOf({ type: _type, ...line }: Row): Promise<Row> {
    const columns = (await this.read()).filter(({ name }) => !this.exported.omit.includes(name));
    const known = new Set(columns.map(({ name }) => name));
    const foreign = Object.keys(line).find((field) => !known.has(field));
    if (foreign !== undefined) throw new LineProblem(`${JSON.stringify(foreign)} is no field of ${this.exported.type}`);
    for (const column of columns) {
      const problem = this.problemOf(column, line[column.name] ?? null);
      if (problem) throw new LineProblem(`${column.name} ${problem}`);
    }
    return Object.fromEntries(columns.map(({ name }) => [name, line[name] ?? null]));
  }

  private problemOf({ name, type, nullable }: Column, value: unknown): string | null {
    if (value === null) return nullable ? null : 'is missing';
    const { values = {}, textLists = [], idLists = [], shapes = {} } = this.exported;
    if (values[name] && !values[name].includes(value)) return `must be one of ${values[name].join(', ')}`;
    if (idLists.includes(name)) return isListOf(value, isUuid) ? null : 'must be a list of ids';
    if (textLists.includes(name)) return isListOf(value, isText) ? null : 'must be a list of texts';
    if (shapes[name]) return shapes[name].safeParse(value).success ? null : 'has not the form that it must have';
    if (type === 'jsonb') return typeof value === 'object' && !Array.isArray(value) ? null : 'must be an object';
    if (type === 'uuid') return isText(value) && isUuid(value) ? null : 'must be an id';
    if (type === 'timestamptz') return isInstant(value) ? null : 'must be an instant with zone';
    if (type === 'bool') return typeof value === 'boolean' ? null : 'must be true or false';
    if (type === 'float8') return typeof value === 'number' ? null : 'must be a number';
    const most = INTEGERS[type];
    if (most !== undefined) return isCount(value, most) ? null : `must be a whole number up to ${most}`;
    return isText(value) ? null : 'must be a text';
  }

  /** Once: the schema does not change while the service runs. */
  private read(): Promise<Column[]> {
    this.columns ??= this.database.query<Column>(
      `select column_name as name, udt_name as type, is_nullable = 'YES' as nullable from information_schema.columns
       where table_schema = current_schema() and table_name = $1 order by ordinal_position`,
      [this.name],
    );
    return this.columns;
  }
}

function isListOf(value: unknown, isItem: (item: string) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && isItem(item));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isInstant(value: unknown): boolean {
  return isText(value) && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}

/** A bigint comes out of the driver as text. */
function isCount(value: unknown, most: number): boolean {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) <= most;
}
