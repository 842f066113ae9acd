import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type Agent, Agents } from '../../core/organization/agents.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { Database } from '../../platform/database/database.js';
import { EXPORT_TYPE, EXPORT_VERSION, type ExportHeader } from './export-header.js';
import { SpoolFile } from './spool-file.js';

/** All that an agent has learned, as NDJSON: a header, then one line a row. */
@Injectable()
export class AgentExport {
  constructor(
    private readonly database: Database,
    private readonly parts: PersonalDataParts,
    private readonly agents: Agents,
  ) {}

  /**
   * One snapshot: the rows are read in one transaction into a file, and sent from there at the pace of whoever takes them. 404
   * `agent.not_found`.
   */
  async of(orgId: string, idOrHandle: string): Promise<Readable> {
    const agent = await this.agents.get(orgId, idOrHandle);
    const spool = await SpoolFile.create();
    try {
      const lines = await this.database.transaction(async () => {
        await this.database.query(`set transaction isolation level repeatable read, read only`);
        return this.write(agent, spool);
      });
      const { id, handle, role } = agent;
      const header: ExportHeader = {
        type: EXPORT_TYPE,
        version: EXPORT_VERSION,
        agent: { id, handle, role },
        exported_at: new Date().toISOString(),
        lines,
      };
      const rows = await spool.read();
      return Readable.from(headed(header, rows), { objectMode: false });
    } catch (error) {
      await spool.close();
      throw error;
    }
  }

  private async write(agent: Agent, spool: SpoolFile): Promise<Record<string, number>> {
    const lines: Record<string, number> = {};
    for (const part of this.parts.inExportOrder()) {
      for await (const line of part.export({ orgId: agent.orgId, agentId: agent.id })) {
        await spool.write(JSON.stringify(line));
        lines[line.type] = (lines[line.type] ?? 0) + 1;
      }
    }
    return lines;
  }
}

async function* headed(header: ExportHeader, rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(header)}\n`);
  yield* rows;
}
