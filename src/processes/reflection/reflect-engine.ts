import { Injectable, Logger } from '@nestjs/common';
import { ExecutionSlots } from '../../core/organization/execution-slots.js';
import { Agents, type Agent } from '../../core/organization/agents.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import { TurnStore, type TurnRecord } from '../../core/turn/turn.store.js';
import { EventBus } from '../../platform/events/event-bus.js';
import type { JobOutcome } from '../../platform/jobs/job.models.js';
import { ReflectionGates } from './reflection.gates.js';
import './reflection.events.js';
import { ReflectionLedger } from './reflection.ledger.js';
import { ReflectionTimeline, type ReflectionStatus } from './reflection-timeline.js';
import { WorkerPass, type PassResult } from './worker-pass.js';

const SLOT_RENEWAL_SECONDS = 40;

/**
 * The deterministic harness (mission, "ReflectEngine"): decides whether and when a finished turn is reflected on, and runs the
 * workers. All that it knows is in the database, so it may be stopped anywhere and asked again by anybody.
 */
@Injectable()
export class ReflectEngine {
  private readonly log = new Logger(ReflectEngine.name);

  constructor(
    private readonly turns: TurnStore,
    private readonly agents: Agents,
    private readonly gates: ReflectionGates,
    private readonly slots: ExecutionSlots,
    private readonly pass: WorkerPass,
    private readonly ledger: ReflectionLedger,
    private readonly events: EventBus,
  ) {}

  /** For a job that gave up: its turn must not look as if somebody were still at it. */
  async giveUp(orgId: string, turnId: string): Promise<void> {
    await this.slots.stopWaiting(orgId, turnId);
    const turn = await this.turns.find(orgId, turnId);
    if (turn) await this.turns.setReflection(turn, { status: 'dead', reason: 'attempts_exhausted' });
  }

  /** For a job that failed and will be run again. */
  async putOff(orgId: string, turnId: string): Promise<void> {
    const turn = await this.turns.find(orgId, turnId);
    if (turn) await this.turns.setReflection(turn, { status: 'retrying', reason: 'backoff' });
  }

  /** Carries the reflection on a turn as far as it goes now. A turn that is gone, swept or ended is left alone. */
  async reflect(orgId: string, turnId: string, signal: AbortSignal): Promise<JobOutcome> {
    const turn = await this.turns.find(orgId, turnId);
    if (!turn?.body || ['done', 'skipped', 'dead'].includes(turn.reflection.status)) {
      await this.slots.stopWaiting(orgId, turnId);
      // A crash may have come between the end of a dead turn and that of its job, which is what an operator retries.
      const { status, reason } = turn?.reflection ?? {};
      return status === 'dead' ? { status: 'dead', error: reason ?? status } : { status: 'done' };
    }
    const agent = await this.agents.get(orgId, turn.agentId);
    const timeline = new ReflectionTimeline();
    const verdict = await this.gates.judge(agent, turn.body);
    if (!verdict.pass) {
      // It may have waited for a slot before; now no slot must be kept for it.
      await this.slots.stopWaiting(orgId, turnId);
      if ('end' in verdict) {
        await this.ledger.skipPending(orgId, turnId, verdict.end);
        this.observe(turn, timeline, 'skipped', verdict.end);
        return this.end(turn, agent, { status: 'skipped', reason: verdict.end, workersRun: 0 });
      }
      if (turn.reflection.reason !== verdict.wait) {
        this.observe(turn, timeline, 'waiting', verdict.wait);
        this.log.log(`reflection_skipped_budget_exhausted: turn ${turnId} of agent ${agent.handle} waits`);
      }
      return this.wait(turn, verdict.wait, verdict.at);
    }
    const slot = await this.slots.acquireForReflection(orgId, agent.role, turnId);
    if ('waitingSince' in slot) {
      if (turn.reflection.reason !== 'slot') this.observe(turn, timeline, 'waiting', 'slot');
      return this.wait(turn, 'slot', inSeconds(slotWaitSeconds(slot.waitingSince) * jitter()));
    }
    const renewal = setInterval(() => {
      this.slots.renew(orgId, slot.slot_id).catch((error: unknown) => {
        this.log.warn(`slot ${slot.slot_id} of turn ${turnId} was not renewed: ${String(error)}`);
      });
    }, SLOT_RENEWAL_SECONDS * 1000);
    try {
      await this.turns.setReflection(turn, { status: 'running', reason: null });
      const result = await this.pass.run({ turn, body: turn.body, agent, role: verdict.role, timeline, signal });
      this.observe(turn, timeline, result.status === 'retry' ? 'retrying' : result.status, reasonOf(result));
      return await this.conclude(turn, agent, result);
    } finally {
      clearInterval(renewal);
      await this.slots.release(orgId, slot.slot_id);
    }
  }

  private observe(
    { turnId, agentId, traceId, spanId }: TurnRecord,
    { startedAt, steps }: ReflectionTimeline,
    status: ReflectionStatus,
    reason: string | null,
  ): void {
    const endedAt = new Date();
    this.events.observe('reflection.looked', {
      ...{ turnId, agentId, traceId, spanId, status, reason },
      ...{ startedAt, endedAt, steps },
    });
  }

  private async conclude(turn: TurnRecord, agent: Agent, result: PassResult): Promise<JobOutcome> {
    // Another body took the place of this one meanwhile; its own job is queued.
    if (result.status === 'superseded') return { status: 'done' };
    if (result.status === 'retry') return this.wait(turn, 'backoff', result.at);
    if (result.status === 'dead') {
      await this.end(turn, agent, { status: 'dead', reason: result.reason, workersRun: result.workersRun });
      return { status: 'dead', error: result.error };
    }
    return this.end(turn, agent, { status: 'done', reason: null, workersRun: result.workersRun });
  }

  private async wait(turn: TurnRecord, reason: string, at: Date): Promise<JobOutcome> {
    await this.turns.setReflection(turn, { status: 'retrying', reason });
    return { status: 'again', at, reason };
  }

  private async end(
    turn: TurnRecord,
    agent: Agent,
    end: { status: 'done' | 'skipped' | 'dead'; reason: string | null; workersRun: number },
  ): Promise<JobOutcome> {
    if (!(await this.turns.setReflection(turn, { status: end.status, reason: end.reason }))) return { status: 'done' };
    this.events.publish('reflection.completed', {
      ...aboutTurn({ ...turn, agent }),
      payload: {
        workers_run: end.workersRun,
        review_outcome: turn.reviewOutcome,
        status: end.status,
        reason: end.reason,
      },
    });
    return { status: 'done' };
  }
}

function reasonOf(result: PassResult): string | null {
  if (result.status === 'dead') return result.reason;
  return result.status === 'superseded' ? 'superseded' : null;
}

/** A tenth of the time waited so far, from 5 to 30 seconds: many that wait long must not keep the workers busy. */
function slotWaitSeconds(since: Date): number {
  return Math.min(30, Math.max(5, (Date.now() - since.getTime()) / 10_000));
}

/** Spreads what would all come back at the same moment. */
function jitter(): number {
  return 1 + Math.random() / 10;
}

function inSeconds(seconds: number): Date {
  return new Date(Date.now() + seconds * 1000);
}
