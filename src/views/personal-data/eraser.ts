import { Injectable, Logger } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { ErasedSubject, type SubjectRequest } from '../../core/personal-data/erased-subject.js';
import { ErasureGate } from '../../core/personal-data/erasure-gate.js';
import type { ErasureCounts, ErasureScope } from '../../core/personal-data/personal-data.models.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import { Database } from '../../platform/database/database.js';
import { ErasureFollowUp } from './erasure-follow-up.js';

export interface ErasureReceipt {
  /** Rows that were removed or redacted, by table; jobs that were taken away as `jobs`. */
  tables: Record<string, number>;
}

/** Rounds in which a subject's identities are followed from one table to another; each adds at least one name. */
const MOST_ROUNDS = 50;

/**
 * Erases in one transaction that holds the gate of the organisation: all that was accepted before it is seen, and who writes
 * meanwhile waits and then finds the rows gone (decision 19). What is posted after the receipt is a new beginning.
 */
@Injectable()
export class Eraser {
  private readonly log = new Logger(Eraser.name);

  constructor(
    private readonly database: Database,
    private readonly gate: ErasureGate,
    private readonly parts: PersonalDataParts,
    private readonly agents: Agents,
    private readonly rest: ErasureFollowUp,
  ) {}

  /** The agent and all that it has. 404 `agent.not_found`. */
  async eraseAgent(orgId: string, idOrHandle: string): Promise<ErasureReceipt> {
    const { id: agentId } = await this.agents.get(orgId, idOrHandle);
    const receipt = await this.database.transaction(async () => {
      await this.gate.close(orgId, agentId);
      await this.agents.get(orgId, agentId);
      const tables = await this.erase({ agent: { orgId, agentId } });
      return { tables: { ...tables, jobs: await this.rest.ofAgent(orgId, agentId) } };
    });
    this.log.log(`agent ${agentId} was erased: ${totalOf(receipt)} rows`);
    return receipt;
  }

  /** All that comes from one person, and the names of that person everywhere else. Nothing to erase is no error. */
  async eraseSubject(orgId: string, request: SubjectRequest): Promise<ErasureReceipt> {
    const receipt = await this.database.transaction(async () => {
      await this.gate.close(orgId, null);
      const subject = await this.identified(orgId, new ErasedSubject(request));
      const tables = await this.erase({ orgId, subject });
      return { tables: { ...tables, jobs: await this.rest.ofSubject(orgId, subject) } };
    });
    this.log.log(`a subject of organisation ${orgId} was erased: ${totalOf(receipt)} rows`);
    return receipt;
  }

  private async identified(orgId: string, subject: ErasedSubject): Promise<ErasedSubject> {
    for (let round = 0, known = -1; known !== subject.size; round++) {
      if (round === MOST_ROUNDS) throw new Error('the identities of a subject go on without end');
      known = subject.size;
      subject.forgetTurns();
      for (const part of this.parts.inErasureOrder()) await part.identify?.(orgId, subject);
    }
    return subject;
  }

  private async erase(scope: ErasureScope): Promise<ErasureCounts> {
    const counts: ErasureCounts = {};
    for (const part of this.parts.inErasureOrder()) Object.assign(counts, await part.erase(scope));
    return counts;
  }
}

function totalOf({ tables }: ErasureReceipt): number {
  return Object.values(tables).reduce((sum, rows) => sum + rows, 0);
}
