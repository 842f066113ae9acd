import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { Agents } from '../../core/organization/agents.js';
import type { PlanContext } from '../../core/turn/extension-points.js';
import { ApiError } from '../../platform/http/api-error.js';
import { PlanContextStore } from './plan-context.store.js';

/** The context that a turn was planned with, for those who work on it later. */
@Injectable()
export class FrozenContexts {
  constructor(
    private readonly agents: Agents,
    private readonly auxiliary: AuxiliaryModel,
    private readonly store: PlanContextStore,
  ) {}

  /** With the agent and its role's chain as they are now; 404 for an unknown agent or a turn without a stored context. */
  async get(orgId: string, idOrHandle: string, turnId: string): Promise<PlanContext> {
    const agent = await this.agents.get(orgId, idOrHandle);
    const stored = await this.store.find(orgId, agent.id, turnId);
    if (!stored) {
      throw new ApiError(404, 'plan_context.not_found', 'No plan context of this turn is stored for this agent.');
    }
    const role = await this.agents.role(orgId, agent.role);
    return {
      ...stored.context,
      agent: { id: agent.id, handle: agent.handle, role: agent.role },
      role: { name: agent.role, chain: role ? this.auxiliary.chainOf(role) : [] },
    };
  }
}
