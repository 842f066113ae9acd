import { Injectable } from '@nestjs/common';
import { Agents, type Agent, type Role } from '../../core/organization/agents.js';
import { Budgets } from '../../core/organization/budgets.js';
import { notEngagedReason } from '../../core/turn/engagement.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import { Settings } from '../../platform/config/settings.js';

export type GateVerdict =
  | { pass: true; role: Role }
  | { pass: false; end: 'no_role' | 'role_disabled' | 'plan_skip' | 'not_engaged' }
  | { pass: false; wait: 'budget_exhausted'; at: Date };

/** What may keep a turn from being reflected on, in the order of the mission; the slot is the last and the engine's. */
@Injectable()
export class ReflectionGates {
  constructor(
    private readonly agents: Agents,
    private readonly budgets: Budgets,
    private readonly settings: Settings,
  ) {}

  async judge(agent: Agent, turn: FinishedTurn): Promise<GateVerdict> {
    const role = await this.agents.role(agent.orgId, agent.role);
    if (!role) return { pass: false, end: 'no_role' };
    const { enabled, reflect } = this.settings.learning;
    if (!(role.learningEnabled ?? enabled) || !reflect.enabled) return { pass: false, end: 'role_disabled' };
    const notEngaged = notEngagedReason(turn);
    if (notEngaged) return { pass: false, end: notEngaged };
    if (await this.budgets.exhausted(agent)) {
      return { pass: false, wait: 'budget_exhausted', at: this.budgets.askAgainAt() };
    }
    return { pass: true, role };
  }
}
