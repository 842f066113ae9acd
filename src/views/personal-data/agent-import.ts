import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { v5 as uuidV5 } from 'uuid';
import { type Agent, Agents } from '../../core/organization/agents.js';
import { ErasureGate } from '../../core/personal-data/erasure-gate.js';
import { type ExportLine, type ImportContext, LineProblem } from '../../core/personal-data/personal-data.models.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { agentId } from '../../platform/auth/name-based-ids.js';
import { Database } from '../../platform/database/database.js';
import { EmbedMissingJob } from '../../platform/embeddings/embed-missing.job.js';
import { ApiError } from '../../platform/http/api-error.js';
import { NDJSON } from '../../platform/http/ndjson-body.js';
import { isUuid } from '../../platform/http/page.js';
import { type ExportHeader, exportHeader } from './export-header.js';
import { ImportTally, type ImportReport } from './import-tally.js';
import { invalidLine, ndjsonLines } from './ndjson-lines.js';
import { SpoolFile } from './spool-file.js';

/** Classes of SQLSTATE by which the database refuses a value: bad data, and a broken constraint. */
const REFUSED = /^(22|23)/;

/** Reads an export into an agent: the one that it is of, or another. */
@Injectable()
export class AgentImport {
  constructor(
    private readonly database: Database,
    private readonly parts: PersonalDataParts,
    private readonly agents: Agents,
    private readonly gate: ErasureGate,
    private readonly embedMissing: EmbedMissingJob,
  ) {}

  /**
   * All of the file or nothing, in one transaction; it is on disk and read once through before that begins. 422
   * `import.invalid_line` or 413 name the line that cannot be; 415 for a body of another type; 404 where the agent is unknown and may not be registered.
   */
  async into(orgId: string, idOrHandle: string, body: unknown): Promise<ImportReport> {
    if (!(body instanceof Readable)) {
      if (isUuid(idOrHandle)) await this.agents.get(orgId, idOrHandle);
      throw new ApiError(415, 'body.unsupported_media_type', `Send the body as ${NDJSON}.`);
    }
    const spool = await SpoolFile.create();
    try {
      const header = await this.spool(body, spool);
      return await this.database.transaction(async () => {
        await this.gate.enter(orgId);
        const agent = await this.target(orgId, idOrHandle, header);
        const report = await this.write(agent, header, spool);
        await this.embedMissing.request();
        return report;
      });
    } finally {
      await spool.close();
    }
  }

  private async spool(body: Readable, spool: SpoolFile): Promise<ExportHeader> {
    let header: ExportHeader | undefined;
    for await (const { number, value } of ndjsonLines(body)) {
      if (header) {
        if (typeof value.type !== 'string' || !this.parts.ofLine(value.type)) {
          throw invalidLine(number, `${JSON.stringify(value.type ?? null)} is no type of line`);
        }
      } else {
        const read = exportHeader.safeParse(value);
        if (!read.success) {
          throw invalidLine(number, 'the first line must be the header of an export of version 1, with its agent');
        }
        header = read.data;
      }
      await spool.write(JSON.stringify({ number, value }));
    }
    if (!header) throw invalidLine(1, 'the first line must be the header of an export');
    return header;
  }

  /** An unknown agent is registered with the role that the file says it had. */
  private async target(orgId: string, idOrHandle: string, { agent }: ExportHeader): Promise<Agent> {
    const known = await this.agents.find(orgId, idOrHandle);
    if (known) return known;
    const isOwnId = isUuid(idOrHandle) && agentId(orgId, agent.handle) === idOrHandle.toLowerCase();
    return this.agents.ensureKnown(orgId, { handle: isOwnId ? agent.handle : idOrHandle, role: agent.role });
  }

  private async write(agent: Agent, header: ExportHeader, spool: SpoolFile): Promise<ImportReport> {
    const tally = new ImportTally(header.lines ?? {});
    const context: ImportContext = {
      orgId: agent.orgId,
      agentId: agent.id,
      handle: agent.handle,
      role: agent.role,
      screened: true,
      idOf: header.agent.id === agent.id ? (id) => id : (id) => uuidV5(id, agent.id),
    };
    let isHeader = true;
    for await (const line of spooled(await spool.read({ keep: true }))) {
      if (!isHeader) tally.add(line, await this.writeLine(context, line));
      isHeader = false;
    }
    return tally.report();
  }

  private async writeLine(context: ImportContext, { number, value }: SpooledLine): ReturnType<PersonalImport> {
    try {
      return await this.parts.ofLine(value.type)!.import(context, value);
    } catch (error) {
      if (error instanceof LineProblem) throw invalidLine(number, error.message.replace(/\.$/, ''));
      const { code, constraint } =
        (error as { driverError?: { code?: string; constraint?: string } }).driverError ?? {};
      if (code && REFUSED.test(code)) throw invalidLine(number, `it breaks ${constraint ?? 'a rule on its values'}`);
      throw error;
    }
  }
}

type PersonalImport = NonNullable<ReturnType<PersonalDataParts['ofLine']>>['import'];

interface SpooledLine {
  number: number;
  value: ExportLine;
}

/** A line as it was spooled is longer than it came by its number, and by what was made storable. */
async function* spooled(chunks: AsyncIterable<Buffer>): AsyncGenerator<SpooledLine> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let begin = 0;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a, begin)) {
      yield JSON.parse(rest.toString('utf8', begin, end)) as SpooledLine;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
  }
}
