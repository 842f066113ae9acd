import { Injectable } from '@nestjs/common';
import type { JobPayload } from '../../platform/jobs/job.models.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { ReflectionLedger } from './reflection.ledger.js';

export const REFLECT_TURN = 'reflect-turn';

export interface ReflectTurnPayload extends JobPayload {
  agent_id: string;
  turn_id: string;
}

/** Where intake leaves turns to be reflected on. Joins the running transaction. */
@Injectable()
export class ReflectionQueue {
  constructor(
    private readonly jobs: Jobs,
    private readonly ledger: ReflectionLedger,
  ) {}

  /** Turns of one agent are reflected on one after another, so that caps and duplicates see each other's writes. */
  async enqueue(turn: { orgId: string; agentId: string; turnId: string }): Promise<void> {
    const payload: ReflectTurnPayload = { org_id: turn.orgId, agent_id: turn.agentId, turn_id: turn.turnId };
    await this.jobs.enqueue({
      task: REFLECT_TURN,
      payload,
      key: turn.turnId,
      queue: `agent:${turn.agentId}`,
    });
  }

  async forgetUnfinished(orgId: string, turnId: string): Promise<void> {
    await this.ledger.forgetUnfinished(orgId, turnId);
  }
}
