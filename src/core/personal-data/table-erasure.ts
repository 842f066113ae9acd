import type { Database } from '../../platform/database/database.js';
import type { ErasedSubject } from './erased-subject.js';
import type { AgentScope } from './personal-data.models.js';
import type { PersonalTable, Row } from './personal-table.js';

const BATCH = 200;

/** Erases from one table. Every method joins the running transaction and answers how many rows it touched. */
export class TableErasure {
  constructor(
    private readonly database: Database,
    private readonly table: PersonalTable,
  ) {}

  ofAgent({ orgId, agentId }: AgentScope): Promise<number> {
    const { ofAgent = 'agent_id = $2' } = this.table;
    return ofAgent === null ? Promise.resolve(0) : this.remove(`org_id = $1 and ${ofAgent}`, [orgId, agentId]);
  }

  async ofSubject(orgId: string, subject: ErasedSubject): Promise<number> {
    const removed = await this.removeOfTurns(orgId, subject.soleTurnIds);
    await this.forgetTurns(orgId, subject.soleTurnIds);
    return removed + (await this.redact(orgId, subject));
  }

  private removeOfTurns(orgId: string, turnIds: readonly string[]): Promise<number> {
    const { origin } = this.table;
    if (!origin || turnIds.length === 0) return Promise.resolve(0);
    if (origin === 'turn_id') return this.remove(`org_id = $1 and turn_id = any($2::uuid[])`, [orgId, turnIds]);
    return this.remove(
      `org_id = $1 and source_turn_ids <> '[]' and not exists (
         select from jsonb_array_elements_text(source_turn_ids) as source(turn)
         where source.turn not in (select unnest($2::text[])))`,
      [orgId, turnIds],
    );
  }

  private async forgetTurns(orgId: string, turnIds: readonly string[]): Promise<void> {
    const { origin, turnLists = [], name } = this.table;
    const lists = [...(origin === 'source_turn_ids' ? [origin] : []), ...turnLists];
    if (turnIds.length === 0) return;
    for (const list of lists) {
      await this.database.query(
        `update ${name} set ${list} = coalesce((
           select jsonb_agg(source.turn order by source.place)
           from jsonb_array_elements_text(${list}) with ordinality as source(turn, place)
           where source.turn not in (select unnest($2::text[]))), '[]')
         where org_id = $1 and ${list} ?| $2::text[]`,
        [orgId, turnIds],
      );
    }
  }

  private async redact(orgId: string, subject: ErasedSubject): Promise<number> {
    const { name, key, origin, turn = origin === 'turn_id' ? origin : undefined } = this.table;
    const keys = Object.keys(key);
    const mentions = this.mentions(subject);
    const found = [...(mentions ? [mentions] : []), ...(turn ? [`${turn} = any($2::uuid[])`] : [])];
    if (found.length === 0) return 0;
    let redacted = 0;
    let last: Row | undefined;
    for (let size = BATCH; size === BATCH;) {
      const after = last
        ? ` and (${keys.join(', ')}) > (${keys.map((column, index) => `$${index + 4}::${key[column]}`).join(', ')})`
        : '';
      // Names both parameters, whichever of them the conditions need: the server must know their types.
      const rows: Row[] = await this.database.query<Row>(
        `select * from ${name} where org_id = $1 and ($2::uuid[] is null or $3::text is null or true)
           and (${found.join(' or ')})${after} order by ${keys.join(', ')} limit ${BATCH} for update`,
        [orgId, subject.mixedTurnIds, subject.sqlPattern, ...(last ? keys.map((column) => last![column]) : [])],
      );
      for (const row of rows) if (await this.rewrite(row, subject)) redacted += 1;
      last = rows.at(-1);
      size = rows.length;
    }
    return redacted;
  }

  /** SQL: whether a name may stand in the row. Null where the table has no text, or there is no name to look for. */
  private mentions(subject: ErasedSubject): string | null {
    const { texts = [], json = [], jsonTexts = [] } = this.table;
    const columns = [...texts, ...jsonTexts, ...json.map((column) => `${column}::text`)];
    if (columns.length === 0 || subject.sqlPattern === null) return null;
    return `concat_ws(E'\\n', ${columns.join(', ')}) ~ $3`;
  }

  /** False where there was nothing to redact. */
  private async rewrite(row: Row, subject: ErasedSubject): Promise<boolean> {
    const redacted = { ...row, ...this.replaced(row, subject) };
    Object.assign(redacted, await this.table.redact?.(redacted, subject));
    const isChanged = (column: string): boolean => JSON.stringify(redacted[column]) !== JSON.stringify(row[column]);
    if (!Object.keys(redacted).some(isChanged)) return false;
    const derived = (await this.table.derive?.(redacted)) ?? {};
    const changed = {
      ...Object.fromEntries(Object.entries(redacted).filter(([column]) => isChanged(column))),
      ...derived,
    };
    if (await this.hasEqual({ ...redacted, ...derived })) await this.remove(...this.rowCondition(row));
    else await this.update(row, changed);
    return true;
  }

  private replaced(row: Row, subject: ErasedSubject): Row {
    const { texts = [], json = [], jsonTexts = [] } = this.table;
    const textOf = (value: unknown, replace: (text: string) => string): unknown =>
      typeof value === 'string' ? replace(value) : value;
    return Object.fromEntries([
      ...texts.map((column) => [column, textOf(row[column], (text) => subject.redact(text))]),
      ...json.map((column) => [column, subject.redactJson(row[column])]),
      ...jsonTexts.map((column) => [
        column,
        textOf(row[column], (text) => JSON.stringify(subject.redactJson(JSON.parse(text)))),
      ]),
    ]) as Row;
  }

  private async update(row: Row, changed: Row): Promise<void> {
    const columns = Object.keys(changed);
    const [condition, parameters] = this.rowCondition(row);
    const set = columns.map((column, index) => `${column} = ${writtenAs(column, parameters.length + index + 1)}`);
    await this.database.query(`update ${this.table.name} set ${set.join(', ')} where ${condition}`, [
      ...parameters,
      ...columns.map((column) => written(changed[column])),
    ]);
  }

  private async hasEqual(row: Row): Promise<boolean> {
    const { unique, name } = this.table;
    if (!unique) return false;
    const [condition, parameters] = this.rowCondition(row);
    const equal = unique.columns.map((column, index) => `${column} = $${parameters.length + index + 1}`);
    const rows = await this.database.query(
      `select 1 from ${name} where ${unique.where} and ${equal.join(' and ')} and not (${condition})
         and exists (select from ${name} where ${condition} and ${unique.where}) limit 1`,
      [...parameters, ...unique.columns.map((column) => row[column])],
    );
    return rows.length > 0;
  }

  private rowCondition(row: Row): [condition: string, parameters: unknown[]] {
    const keys = Object.entries(this.table.key);
    const named = keys.map(([column, type], index) => `${column} = $${index + 2}::${type}`);
    return [`org_id = $1 and ${named.join(' and ')}`, [row.org_id, ...keys.map(([column]) => row[column])]];
  }

  private async remove(condition: string, parameters: readonly unknown[]): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `with gone as (delete from ${this.table.name} where ${condition} returning 1)
       select count(*)::int as count from gone`,
      parameters,
    );
    return row!.count;
  }
}

/** The expression that a column is written by. */
export function writtenAs(column: string, place: number): string {
  return column === 'search' ? `to_tsvector('english', $${place}::text)` : `$${place}`;
}

/** A value as the driver takes it: lists and objects as JSON. */
export function written(value: unknown): unknown {
  return value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value;
}
