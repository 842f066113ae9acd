import type { Database } from '../../platform/database/database.js';
import type { ErasedSubject } from './erased-subject.js';
import {
  type AgentScope,
  type ErasureCounts,
  type ErasureScope,
  type ErasureStage,
  type ExportLine,
  type ImportContext,
  type ImportOutcome,
  LineProblem,
  type PersonalData,
} from './personal-data.models.js';
import type { PersonalTable } from './personal-table.js';
import { TableErasure } from './table-erasure.js';
import { TableTransfer, type WriteBoundary } from './table-transfer.js';

/**
 * The personal data of a room whose tables say for themselves how they are erased and moved. Those that others refer to
 * come first: they are imported first and erased last.
 */
export class PersonalTables implements PersonalData {
  readonly stage: ErasureStage;
  private readonly transfers = new Map<string, TableTransfer>();
  identify?: (orgId: string, subject: ErasedSubject) => Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly specifications: readonly PersonalTable[],
    options: { boundary?: WriteBoundary; stage?: ErasureStage; identify?: PersonalTables['identify'] } = {},
  ) {
    this.stage = options.stage ?? 'derived';
    if (options.identify) this.identify = options.identify;
    for (const table of specifications) {
      if (!table.exported) continue;
      if (table.exported.screened && !options.boundary) throw new Error(`${table.name} is imported past the screening`);
      this.transfers.set(table.exported.type, new TableTransfer(database, table, table.exported, options.boundary));
    }
  }

  get tables(): readonly string[] {
    return this.specifications.map(({ name }) => name);
  }

  get lineTypes(): readonly string[] {
    return [...this.transfers.keys()];
  }

  async *export(scope: AgentScope): AsyncGenerator<ExportLine> {
    for (const transfer of this.transfers.values()) yield* transfer.export(scope);
  }

  async import(context: ImportContext, line: ExportLine): Promise<ImportOutcome> {
    const transfer = this.transfers.get(line.type);
    if (!transfer) throw new LineProblem(`${JSON.stringify(line.type)} is no type of line`);
    return transfer.import(context, line);
  }

  async erase(scope: ErasureScope): Promise<ErasureCounts> {
    const counts: ErasureCounts = {};
    for (const table of [...this.specifications].reverse()) {
      const erasure = new TableErasure(this.database, table);
      counts[table.name] =
        'agent' in scope ? await erasure.ofAgent(scope.agent) : await erasure.ofSubject(scope.orgId, scope.subject);
    }
    return counts;
  }
}
