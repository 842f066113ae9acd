import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { type Agent, Agents } from '../../core/organization/agents.js';
import { Settings } from '../../platform/config/settings.js';

export interface LifecycleAgent {
  agent: Agent;
  /** Empty where no model may be asked; `skipped` then says why. */
  chain: string[];
  skipped: 'no_model' | 'role_disabled' | null;
}

/** The agent of a pass, and which models may sum up its episodes. */
@Injectable()
export class LifecycleAgents {
  constructor(
    private readonly agents: Agents,
    private readonly auxiliary: AuxiliaryModel,
    private readonly settings: Settings,
  ) {}

  /** Null for an agent that is gone. */
  async find(orgId: string, agentId: string): Promise<LifecycleAgent | null> {
    const agent = await this.agents.find(orgId, agentId);
    if (!agent) return null;
    const role = await this.agents.role(orgId, agent.role);
    if (!(role?.learningEnabled ?? this.settings.learning.enabled)) {
      return { agent, chain: [], skipped: 'role_disabled' };
    }
    const chain = role ? this.auxiliary.chainOf(role) : [];
    return { agent, chain, skipped: chain.length === 0 ? 'no_model' : null };
  }
}
