import type { AgentRef, TraceContext } from '../../core/turn/extension-points.js';
import type { SkillOwner } from './skill.models.js';

/** On whose skills and in which turn somebody works; no turn where it is an operator or a job. */
export interface SkillAuthor extends TraceContext {
  orgId: string;
  agent: AgentRef;
  turnId: string | null;
}

export function ownerOf(author: SkillAuthor): SkillOwner {
  return { orgId: author.orgId, agentId: author.agent.id };
}

/** What every event about a skill says beside its payload. */
export function aboutSkill(author: SkillAuthor): {
  org_id: string;
  agent_id: string;
  agent_handle: string;
  role: string;
  turn_id: string | null;
  trace_id: string | null;
  span_id: string | null;
} {
  return {
    org_id: author.orgId,
    agent_id: author.agent.id,
    agent_handle: author.agent.handle,
    role: author.agent.role,
    turn_id: author.turnId,
    trace_id: author.traceId,
    span_id: author.spanId,
  };
}
