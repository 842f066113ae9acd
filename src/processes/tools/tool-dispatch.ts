import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { Agents } from '../../core/organization/agents.js';
import type { ToolCall, ToolResult, TurnPhase } from '../../core/turn/extension-points.js';
import { toolError } from '../../core/turn/tool-arguments.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ShutdownSignal } from '../../platform/http/shutdown-signal.js';
import { withSignal } from '../../platform/outbound/deadline.js';
import type { TraceIds } from '../../platform/http/trace-context.js';
import { PlanContextStore } from '../planning/plan-context.store.js';
import { ToolRegistry } from './tool-registry.js';

/** Milliseconds that one tool call may take. */
const TOOL_DEADLINE_MS = 90_000;

export interface ToolRequest {
  orgId: string;
  agent: string;
  tool: string;
  turnId: string;
  phase: TurnPhase;
  /** As the model wrote them. */
  arguments: unknown;
  trace: TraceIds;
}

/** Finds the tool, the agent and the turn's stored context, and runs the call. */
@Injectable()
export class ToolDispatch {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly agents: Agents,
    private readonly contexts: PlanContextStore,
    private readonly auxiliary: AuxiliaryModel,
    private readonly shutdown: ShutdownSignal,
  ) {}

  /** Throws 404 for an unknown tool or agent; all that the model got wrong is an answer with `is_error`. */
  async call(request: ToolRequest): Promise<ToolResult> {
    const found = await this.agents.get(request.orgId, request.agent);
    const tool = this.registry.get(request.tool);
    if (!tool) throw new ApiError(404, 'tool.not_found', `There is no tool "${request.tool}".`);
    if (!tool.phases.includes(request.phase)) {
      return toolError(`${request.tool} can be called in phase ${tool.phases.join(' or ')}, not in ${request.phase}.`);
    }
    const given = request.arguments ?? {};
    if (typeof given !== 'object' || Array.isArray(given)) {
      return toolError('The arguments must be one JSON object, not a string, a number or a list.');
    }
    const role = await this.agents.role(request.orgId, found.role);
    const agent = { id: found.id, handle: found.handle, role: found.role };
    const roleContext = { name: found.role, chain: role ? this.auxiliary.chainOf(role) : [] };
    const stored = await this.contexts.find(request.orgId, found.id, request.turnId);
    const call: Omit<ToolCall, 'signal'> = {
      orgId: request.orgId,
      agent,
      role: roleContext,
      turnId: request.turnId,
      phase: request.phase,
      arguments: given as Record<string, unknown>,
      context: stored && { ...stored.context, agent, role: roleContext },
      traceId: request.trace.traceId ?? stored?.context.traceId ?? null,
      spanId: request.trace.spanId ?? stored?.context.spanId ?? null,
    };
    return withSignal(TOOL_DEADLINE_MS, this.shutdown.signal, (signal) => tool.run({ ...call, signal }));
  }
}
