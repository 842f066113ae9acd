import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import type { JobOutcome } from '../../platform/jobs/job.models.js';
import { type Agent, Agents, type Role } from './agents.js';
import { Budgets } from './budgets.js';
import { ExecutionSlots } from './execution-slots.js';

/** Most seconds until work over budget asks again: the budget may be raised before the day ends. */
const BUDGET_WAIT_SECONDS = 120;
const SLOT_WAIT_SECONDS = 10;
const SLOT_RENEWAL_SECONDS = 40;

/**
 * The gates of a reflection for learning that belongs to no single turn: role, budget, execution slot. Work that has to
 * wait puts its job off, which spends no attempt.
 */
@Injectable()
export class LearningGate {
  private readonly log = new Logger(LearningGate.name);

  constructor(
    private readonly agents: Agents,
    private readonly budgets: Budgets,
    private readonly slots: ExecutionSlots,
    private readonly settings: Settings,
  ) {}

  /** Runs `work` with an execution slot of the agent's role; not at all where the role does not learn. */
  async pass(agent: Agent, work: (role: Role) => Promise<JobOutcome>): Promise<JobOutcome> {
    const { orgId, id } = agent;
    const role = await this.agents.role(orgId, agent.role);
    const { enabled, reflect } = this.settings.learning;
    const learns = role !== null && reflect.enabled && (role.learningEnabled ?? enabled);
    const wait = learns ? await this.overBudget(agent) : null;
    if (!learns || wait) {
      // It may have waited for a slot before; now none must be kept for it.
      await this.slots.stopWaiting(orgId, id);
      return wait ?? { status: 'done' };
    }
    const slot = await this.slots.acquireForReflection(orgId, role.name, id);
    if ('waitingSince' in slot) return later(SLOT_WAIT_SECONDS, 'slot');
    const renewal = setInterval(() => {
      this.slots.renew(orgId, slot.slot_id).catch((error: unknown) => {
        this.log.warn(`the slot ${slot.slot_id} of agent ${agent.handle} was not renewed: ${String(error)}`);
      });
    }, SLOT_RENEWAL_SECONDS * 1000);
    try {
      return await work(role);
    } finally {
      clearInterval(renewal);
      await this.slots.release(orgId, slot.slot_id);
    }
  }

  /** How the job waits if the day's tokens are spent; null where they are not. To be asked before each further call. */
  async overBudget(agent: Agent): Promise<JobOutcome | null> {
    return (await this.budgets.exhausted(agent)) ? later(BUDGET_WAIT_SECONDS, 'budget_exhausted') : null;
  }
}

/** A tenth more or less, so that not all agents come back at the same moment. */
function later(seconds: number, reason: string): JobOutcome {
  return { status: 'again', at: new Date(Date.now() + seconds * 1000 * (1 + Math.random() / 10)), reason };
}
