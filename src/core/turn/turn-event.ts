import type { AgentRef, TraceContext } from './extension-points.js';

/** What every event about a turn says of it, beside its payload. */
export function aboutTurn(turn: TraceContext & { orgId: string; agent: AgentRef; turnId: string }): {
  org_id: string;
  agent_id: string;
  agent_handle: string;
  role: string;
  turn_id: string;
  trace_id: string | null;
  span_id: string | null;
} {
  return {
    org_id: turn.orgId,
    agent_id: turn.agent.id,
    agent_handle: turn.agent.handle,
    role: turn.agent.role,
    turn_id: turn.turnId,
    trace_id: turn.traceId,
    span_id: turn.spanId,
  };
}
