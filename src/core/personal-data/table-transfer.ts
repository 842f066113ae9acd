import type { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/http/page.js';
import {
  type AgentScope,
  type ExportLine,
  type ImportContext,
  type ImportOutcome,
  LineProblem,
} from './personal-data.models.js';
import type { ExportedTable, PersonalTable, Row } from './personal-table.js';
import { TableColumns } from './table-columns.js';
import { written, writtenAs } from './table-erasure.js';

const BATCH = 500;

/** The kind of writes that an import left in quarantine. */
export const IMPORTED_LINE = 'import';

/** What every write from outside passes: the rooms hand it in, because the screening has personal data of its own. */
export interface WriteBoundary {
  screening: { check(...texts: string[]): { flagged: false } | { flagged: true; reason: string } };
  quarantine: {
    hold(write: {
      orgId: string;
      agentId: string;
      kind: string;
      reason: string;
      content: string;
      payload: unknown;
      turnId: string | null;
    }): Promise<string>;
  };
}

/** Moves the rows of one table out and in. Joins the running transaction. */
export class TableTransfer {
  private readonly columns: TableColumns;

  constructor(
    private readonly database: Database,
    private readonly table: PersonalTable,
    private readonly exported: ExportedTable,
    private readonly boundary: WriteBoundary | undefined,
  ) {
    this.columns = new TableColumns(database, table.name, exported);
  }

  /** In the order of the key, a batch in memory at a time. */
  async *export({ orgId, agentId }: AgentScope): AsyncGenerator<ExportLine> {
    const { name, key, ofAgent = 'agent_id = $2' } = this.table;
    const keys = Object.keys(key);
    const selected = [...(await this.columns.types()).keys()].filter(
      (column) => keys.includes(column) || !this.exported.omit.includes(column),
    );
    let last: Row | undefined;
    for (let size = BATCH; size === BATCH;) {
      const after = last
        ? ` and (${keys.join(', ')}) > (${keys.map((column, index) => `$${index + 3}::${key[column]}`).join(', ')})`
        : '';
      const rows: Row[] = await this.database.query<Row>(
        `select ${selected.join(', ')} from ${name} where org_id = $1 and ${ofAgent}${after}
         order by ${keys.join(', ')} limit ${BATCH}`,
        [orgId, agentId, ...(last ? keys.map((column) => last![column]) : [])],
      );
      for (const row of rows) yield this.lineOf(row);
      last = rows.at(-1);
      size = rows.length;
    }
  }

  /** A row that is there already is left alone, so a file may be imported twice. */
  async import(context: ImportContext, line: ExportLine): Promise<ImportOutcome> {
    const read = this.renamed(await this.columns.rowOf(line), context);
    const row = { ...read, ...this.exported.stamp?.(read, context) };
    const refused = await this.exported.admit?.(row, context);
    if (refused) return refused;
    const held = context.screened ? await this.holdFlagged(context, row) : null;
    if (held) return held;
    const owned = { ...row, org_id: context.orgId, agent_id: context.agentId };
    const whole = { ...owned, ...(await this.table.derive?.(owned)) };
    return (await this.insert(whole)) ? { status: 'imported' } : this.unchanged(context, row);
  }

  private lineOf(row: Row): ExportLine {
    const columns = Object.entries(row).filter(([column]) => !this.exported.omit.includes(column));
    return { type: this.exported.type, ...Object.fromEntries(columns) };
  }

  /** Every id as it is called here. */
  private renamed(row: Row, context: ImportContext): Row {
    const { idLists = [], idTexts = [], textLists = [] } = this.exported;
    return Object.fromEntries(
      Object.entries(row).map(([column, value]) => {
        if (idLists.includes(column))
          return [column, (value as string[] | null)?.map((id) => context.idOf(id)) ?? null];
        const mayBeId = typeof value === 'string' && isUuid(value) && !textLists.includes(column);
        const isId = mayBeId && (idTexts.includes(column) || this.idColumns.has(column));
        return [column, isId ? context.idOf(value) : value];
      }),
    );
  }

  /** By name, as everywhere in the schema. */
  private readonly idColumns = {
    has: (column: string): boolean =>
      column === 'id' || column.endsWith('_id') || ['superseded_by', 'linked_to'].includes(column),
  };

  private async holdFlagged(context: ImportContext, row: Row): Promise<ImportOutcome | null> {
    if (!this.exported.screened || !this.boundary) return null;
    const texts = this.exported.screened(row);
    const verdict = this.boundary.screening.check(...texts);
    if (!verdict.flagged) return null;
    const { orgId, agentId } = context;
    await this.boundary.quarantine.hold({
      orgId,
      agentId,
      kind: IMPORTED_LINE,
      reason: verdict.reason,
      content: texts.join('\n'),
      payload: { type: this.exported.type, ...row },
      turnId: typeof row.turn_id === 'string' ? row.turn_id : null,
    });
    return { status: 'quarantined', reason: verdict.reason };
  }

  private async insert(row: Row): Promise<boolean> {
    const types = await this.columns.types();
    const columns = Object.keys(row).filter((column) => types.has(column));
    const values = columns.map((column, index) =>
      column === 'search' ? writtenAs(column, index + 1) : `$${index + 1}::${types.get(column)}`,
    );
    const rows = await this.database.query(
      `insert into ${this.table.name} (${columns.join(', ')}) values (${values.join(', ')})
       on conflict do nothing returning 1`,
      columns.map((column) => written(row[column])),
    );
    return rows.length > 0;
  }

  private async unchanged({ orgId, agentId }: ImportContext, row: Row): Promise<ImportOutcome> {
    const { name, key, ofAgent = 'agent_id = $2' } = this.table;
    const keys = Object.entries(key).filter(([column]) => column in row);
    const own = keys.length === Object.keys(key).length && !('org_id' in key);
    if (own && ofAgent === 'agent_id = $2') {
      const named = keys.map(([column, type], index) => `${column} = $${index + 3}::${type}`).join(' and ');
      const [other] = await this.database.query(
        `select 1 from ${name} where ${named} and (org_id <> $1 or agent_id <> $2)`,
        [orgId, agentId, ...keys.map(([column]) => row[column])],
      );
      if (other) throw new LineProblem(`the id ${String(row[keys[0]![0]])} is that of another agent's row`);
    }
    return { status: 'skipped', reason: 'already_there' };
  }
}
