import { Injectable } from '@nestjs/common';
import { UsageMeter } from '../auxiliary/usage-meter.js';
import type { Agent } from './agents.js';
import { Organizations } from './organizations.js';

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
}
