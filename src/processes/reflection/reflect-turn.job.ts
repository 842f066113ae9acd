import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { TurnStore } from '../../core/turn/turn.store.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import type { JobContext, JobHandler, JobOutcome } from '../../platform/jobs/job.models.js';
import { bestEffort } from '../../platform/jobs/best-effort.js';
import { ReflectEngine } from './reflect-engine.js';
import { ReflectionLedger } from './reflection.ledger.js';
import { REFLECT_TURN, type ReflectTurnPayload } from './reflection.queue.js';

@Injectable()
export class ReflectTurnJob implements JobHandler<ReflectTurnPayload>, OnModuleInit {
  readonly task = REFLECT_TURN;
  private readonly log = new Logger(ReflectTurnJob.name);

  constructor(
    private readonly handlers: JobHandlers,
    private readonly engine: ReflectEngine,
    private readonly turns: TurnStore,
    private readonly ledger: ReflectionLedger,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async run(payload: ReflectTurnPayload, { signal, attempt, maxAttempts }: JobContext): Promise<JobOutcome> {
    try {
      return await this.engine.reflect(payload.org_id, payload.turn_id, signal);
    } catch (error) {
      if (!signal.aborted && attempt < maxAttempts) {
        await bestEffort(this.log, `turn ${payload.turn_id} still looks as if it were being reflected on`, () =>
          this.engine.putOff(payload.org_id, payload.turn_id),
        );
      }
      throw error;
    }
  }

  async onDead({ org_id: orgId, turn_id: turnId }: ReflectTurnPayload): Promise<void> {
    await this.engine.giveUp(orgId, turnId);
  }

  async onRetry({ org_id: orgId, turn_id: turnId }: ReflectTurnPayload): Promise<void> {
    await this.ledger.reviveDead(orgId, turnId);
    const turn = await this.turns.find(orgId, turnId, { lock: true });
    if (turn) await this.turns.setReflection(turn, { status: 'pending', reason: null });
  }
}
