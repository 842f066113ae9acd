import { Injectable } from '@nestjs/common';
import { UsageMeter } from '../auxiliary/usage-meter.js';
import type { Agent } from './agents.js';
import { Organizations } from './organizations.js';

/** Most seconds until work over budget asks again: the budget may be raised before the day ends. */
const WAIT_SECONDS = 120;

/** The BudgetManager of the mission: tokens per UTC day, of an agent and of its whole organisation. */
@Injectable()
export class Budgets {
  constructor(
    private readonly organizations: Organizations,
    private readonly usage: UsageMeter,
  ) {}

  /** True where the day's tokens are spent. Calls are recorded and never refused; this is asked before a reflection. */
  async exhausted(agent: Agent): Promise<boolean> {
    const { dailyTokenBudget } = await this.organizations.get(agent.orgId);
    if (dailyTokenBudget !== null && (await this.usage.tokensToday(agent.orgId)) >= dailyTokenBudget) return true;
    if (agent.dailyTokenBudget === null) return false;
    return (await this.usage.tokensToday(agent.orgId, agent.id)) >= agent.dailyTokenBudget;
  }

  /** When what waits for a budget asks again: soon, and when the day ends. Spread, so that not all come back at once. */
  askAgainAt(): Date {
    const now = new Date();
    const dayEnds = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
    const wait = Math.min(WAIT_SECONDS * 1000, dayEnds - now.getTime());
    return new Date(now.getTime() + wait * (1 + Math.random() / 10));
  }
}
