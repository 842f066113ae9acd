import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Agents, type Agent } from '../../core/organization/agents.js';
import { contentHash } from '../../core/turn/content-hash.js';
import { notEngagedReason } from '../../core/turn/engagement.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import type { TurnRecord } from '../../core/turn/turn.store.js';
import { workKey } from '../../core/turn/work-key.js';
import type { EpisodeDraft, PreparedEpisode } from '../../memories/episodes/episode.store.js';
import type { TraceIds } from '../../platform/http/trace-context.js';
import { PlanContextStore } from '../planning/plan-context.store.js';

export interface Submission {
  orgId: string;
  turn: FinishedTurn;
  /** False stores the episode only. */
  reflect: boolean;
  trace: TraceIds;
}

export interface TurnDraft {
  agent: Agent;
  record: TurnRecord & { body: FinishedTurn };
}

/** Makes of a posted turn what is stored of it. */
@Injectable()
export class TurnDrafts {
  constructor(
    private readonly agents: Agents,
    private readonly contexts: PlanContextStore,
  ) {}

  /** Registers the agent where it may. The trace is the request's, else that of the turn's stored context. */
  async of({ orgId, turn, reflect, trace }: Submission): Promise<TurnDraft> {
    const agent = await this.agents.ensure(orgId, { handle: turn.agent, role: turn.role });
    const context = trace.traceId === null ? await this.contexts.find(orgId, agent.id, turn.turn_id) : null;
    return {
      agent,
      record: {
        orgId,
        turnId: turn.turn_id,
        agentId: agent.id,
        episodeId: randomUUID(),
        role: turn.role,
        workKey: workKey(turn.trigger_event_ids),
        contentHash: contentHash(turn),
        conversationId: turn.conversation_id,
        body: turn,
        reviewOutcome: turn.review_outcome,
        startedAt: new Date(turn.started_at),
        endedAt: new Date(turn.ended_at),
        receivedAt: new Date(),
        traceId: trace.traceId ?? context?.context.traceId ?? null,
        spanId: trace.spanId ?? context?.context.spanId ?? null,
        reflection: reflect ? { status: 'pending', reason: null } : { status: 'skipped', reason: 'not_requested' },
      },
    };
  }

  episodeOf({ agent, record }: TurnDraft, prepared: PreparedEpisode): EpisodeDraft {
    const turn = record.body;
    return {
      ...prepared,
      id: record.episodeId,
      orgId: record.orgId,
      agent: { id: agent.id, handle: agent.handle, role: agent.role },
      turnId: record.turnId,
      taskId: turn.task_id,
      conversationId: turn.conversation_id,
      planDecision: turn.plan.decision,
      engaged: notEngagedReason(turn) === null,
      toolSequence: turn.tool_sequence,
      skillsUsed: turn.skills_used,
      reviewOutcome: turn.review_outcome,
      startedAt: record.startedAt,
      endedAt: record.endedAt,
      workKey: record.workKey,
    };
  }

  /** The last thing of the transaction: all turns of one agent meet at its row. */
  async seen({ agent, record }: TurnDraft): Promise<void> {
    await this.agents.touch(agent, record.endedAt);
  }
}
