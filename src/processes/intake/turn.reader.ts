import { Injectable } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import { TurnStore, type ReflectionStatus } from '../../core/turn/turn.store.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ReflectionLedger, type WorkerView } from '../reflection/reflection.ledger.js';

type Nullable<Shape> = { [Key in keyof Shape]: Shape[Key] | null };

/** The body's own fields are null once the body has been swept. */
export interface TurnView extends Nullable<Omit<FinishedTurn, 'turn_id' | 'agent' | 'role'>> {
  turn_id: string;
  agent: string;
  agent_id: string;
  role: string;
  episode_id: string;
  received_at: string;
  reflection: { status: ReflectionStatus; reason: string | null; workers: WorkerView[] };
}

const SWEPT: Nullable<FinishedTurn> = {
  turn_id: null,
  agent: null,
  role: null,
  task_id: null,
  conversation_id: null,
  trigger_event_ids: null,
  task_description: null,
  plan: null,
  tool_sequence: null,
  plan_tool_sequence: null,
  skills_used: null,
  review_outcome: null,
  failure_reason: null,
  iterations: null,
  started_at: null,
  ended_at: null,
  interactions: null,
};

/** `GET /turns/:turn_id`. */
@Injectable()
export class TurnReader {
  constructor(
    private readonly turns: TurnStore,
    private readonly agents: Agents,
    private readonly ledger: ReflectionLedger,
  ) {}

  async get(orgId: string, turnId: string): Promise<TurnView> {
    const turn = await this.turns.find(orgId, turnId);
    if (!turn) throw new ApiError(404, 'turn.not_found', 'There is no such turn.');
    const agent = await this.agents.find(orgId, turn.agentId);
    return {
      ...SWEPT,
      ...turn.body,
      turn_id: turn.turnId,
      agent: agent?.handle ?? turn.agentId,
      agent_id: turn.agentId,
      role: turn.role,
      conversation_id: turn.conversationId,
      review_outcome: turn.reviewOutcome,
      started_at: turn.startedAt.toISOString(),
      ended_at: turn.endedAt.toISOString(),
      episode_id: turn.episodeId,
      received_at: turn.receivedAt.toISOString(),
      reflection: { ...turn.reflection, workers: await this.ledger.workers(orgId, turnId) },
    };
  }
}
