import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { type ExportLine, LineProblem } from '../../core/personal-data/personal-data.models.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { IMPORTED_LINE } from '../../core/personal-data/table-transfer.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { ApiError } from '../../platform/http/api-error.js';

/** Carries out lines of an import that the screening held and an operator released. */
@Injectable()
export class ImportedLines implements QuarantinedWrite, OnModuleInit {
  readonly kind = IMPORTED_LINE;

  constructor(
    private readonly parts: PersonalDataParts,
    private readonly agents: Agents,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  async apply({ orgId, agentId, payload }: HeldWrite): Promise<void> {
    const line = payload as ExportLine;
    const { handle, role } = await this.agents.get(orgId, agentId);
    const context = { orgId, agentId, handle, role, screened: false, idOf: (id: string) => id };
    try {
      const outcome = await this.parts.ofLine(line.type)!.import(context, line);
      if (outcome.status === 'skipped') throw new LineProblem(outcome.reason);
    } catch (error) {
      if (!(error instanceof LineProblem)) throw error;
      throw new ApiError(409, 'quarantine.stale', `The line can no longer be imported: ${error.message}.`);
    }
  }
}
