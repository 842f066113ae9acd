import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { Agents, type Agent } from '../../core/organization/agents.js';
import { requiresRecon } from '../../core/turn/interactions.js';
import { salientText } from '../../core/turn/salient-text.js';
import type { TraceIds } from '../../platform/http/trace-context.js';
import type { PlanContextDto } from './plan-context.dto.js';
import { PlanContextStore } from './plan-context.store.js';
import { Planner } from './planner.js';

/** Answers `POST /agents/:id/plan-context`. */
@Injectable()
export class PlanContexts {
  constructor(
    private readonly agents: Agents,
    private readonly auxiliary: AuxiliaryModel,
    private readonly store: PlanContextStore,
    private readonly planner: Planner,
  ) {}

  /** The stored bytes of the turn, else those of a new plan context; 404 for an agent that may not register. */
  async ofTurn(asked: { orgId: string; agent: string; request: PlanContextDto; trace: TraceIds }): Promise<string> {
    const { orgId, request, trace } = asked;
    const agent = await this.agents.ensureKnown(orgId, { handle: asked.agent, role: request.role });
    const stored = await this.store.find(orgId, agent.id, request.turn_id);
    if (stored) return stored.rendered;
    return this.planner.freeze({
      orgId,
      agent: { id: agent.id, handle: agent.handle, role: agent.role },
      role: { name: agent.role, chain: await this.chainOf(agent) },
      turnId: request.turn_id,
      conversationId: request.conversation_id,
      taskDescription: request.task_description,
      interactions: request.interactions,
      salientText: salientText(request.interactions, request.task_description),
      requiresRecon: requiresRecon(request.interactions),
      availableTools: request.available_tools,
      mcpServers: request.mcp_servers,
      frozenAt: new Date(),
      ...trace,
    });
  }

  private async chainOf(agent: Agent): Promise<string[]> {
    const role = await this.agents.role(agent.orgId, agent.role);
    return role ? this.auxiliary.chainOf(role) : [];
  }
}
