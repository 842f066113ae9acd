import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Agents, type Agent } from '../../core/organization/agents.js';
import { contentHash } from '../../core/turn/content-hash.js';
import { notEngagedReason } from '../../core/turn/engagement.js';
import { salientText } from '../../core/turn/salient-text.js';
import '../../core/turn/turn.events.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import { TurnStore, type TurnRecord } from '../../core/turn/turn.store.js';
import { workKey } from '../../core/turn/work-key.js';
import '../../memories/episodes/episode.events.js';
import { EpisodeStore, type EpisodeDraft, type PreparedEpisode } from '../../memories/episodes/episode.store.js';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import type { TraceIds } from '../../platform/http/trace-context.js';
import { ReflectionQueue } from '../reflection/reflection.queue.js';
import { turnProblems } from './turn.rules.js';

export interface TurnReceipt {
  turn_id: string;
  episode_id: string;
  status: 'accepted' | 'superseded' | 'duplicate';
}

interface Submission {
  orgId: string;
  turn: FinishedTurn;
  /** False stores the episode only. */
  reflect: boolean;
  trace: TraceIds;
}

/** Takes finished turns in: turn, episode and reflection job are one transaction, so an answer means durable. */
@Injectable()
export class Intake {
  constructor(
    private readonly database: Database,
    private readonly agents: Agents,
    private readonly turns: TurnStore,
    private readonly episodes: EpisodeStore,
    private readonly reflections: ReflectionQueue,
    private readonly events: EventBus,
  ) {}

  /** Throws 422 for a turn that cannot be, 404 for an agent that may not register, 409 for another body of the same turn_id. */
  async submit(submission: Submission): Promise<TurnReceipt> {
    const { orgId, turn } = submission;
    const problems = turnProblems(turn, new Date());
    if (problems.length > 0) throw invalidRequest(problems);
    const stored = await this.turns.find(orgId, turn.turn_id);
    if (stored?.contentHash === contentHash(turn)) return receipt(stored, 'duplicate');
    const [prepared] = await this.prepare([turn]);
    return this.store(submission, prepared!);
  }

  /** Each turn for itself and in order: one that is refused does not fail the others. One embedding call for all. */
  async submitAll(submissions: readonly Submission[]): Promise<(TurnReceipt | ApiError)[]> {
    const now = new Date();
    const prepared = await this.prepare(submissions.map(({ turn }) => turn));
    const receipts: (TurnReceipt | ApiError)[] = [];
    for (const [index, submission] of submissions.entries()) {
      const problems = turnProblems(submission.turn, now);
      receipts.push(
        problems.length > 0
          ? invalidRequest(problems)
          : await this.store(submission, prepared[index]!).catch((error: unknown) => {
              if (error instanceof ApiError) return error;
              throw error;
            }),
      );
    }
    return receipts;
  }

  private prepare(turns: readonly FinishedTurn[]): Promise<PreparedEpisode[]> {
    return this.episodes.prepare(
      turns.map((turn) => ({
        taskSummary: salientText(turn.interactions, turn.task_description),
        planSummary: turn.plan.summary,
      })),
    );
  }

  private store(submission: Submission, prepared: PreparedEpisode): Promise<TurnReceipt> {
    return this.database.transaction(() => this.storeInTransaction(submission, prepared));
  }

  private async storeInTransaction(submission: Submission, prepared: PreparedEpisode): Promise<TurnReceipt> {
    const { orgId, turn, reflect, trace } = submission;
    const hash = contentHash(turn);
    const agent = await this.agents.ensure(orgId, { handle: turn.agent, role: turn.role });
    const record: TurnRecord & { body: FinishedTurn } = {
      orgId,
      turnId: turn.turn_id,
      agentId: agent.id,
      episodeId: randomUUID(),
      role: turn.role,
      workKey: workKey(turn.trigger_event_ids),
      contentHash: hash,
      conversationId: turn.conversation_id,
      body: turn,
      reviewOutcome: turn.review_outcome,
      startedAt: new Date(turn.started_at),
      endedAt: new Date(turn.ended_at),
      receivedAt: new Date(),
      ...trace,
      reflection: reflect ? { status: 'pending', reason: null } : { status: 'skipped', reason: 'not_requested' },
    };
    const stored = await this.turns.find(orgId, turn.turn_id, { lock: true });
    if (stored?.contentHash === hash) return receipt(stored, 'duplicate');
    if (stored && stored.reviewOutcome !== 'self_iterate') throw conflict();
    const first = await this.turns.findDone(orgId, agent.id, record.workKey);
    if (first) return receipt(first, 'duplicate');
    if (stored) {
      await this.episodes.deleteOfTurn(orgId, turn.turn_id);
      await this.reflections.forgetUnfinished(orgId, turn.turn_id);
      await this.turns.replace(record);
    } else if (!(await this.turns.insert(record))) {
      return this.afterLostRace(record, hash);
    }
    await this.episodes.insert(this.episodeOf(record, agent, prepared));
    if (reflect) await this.reflections.enqueue({ orgId, agentId: agent.id, turnId: turn.turn_id });
    await this.agents.touch(agent.id, record.endedAt);
    this.announce(record, agent, prepared.taskSummary);
    return receipt(record, stored ? 'superseded' : 'accepted');
  }

  /** Another request took the turn_id or the work key between our look and our insert; it has committed. */
  private async afterLostRace(record: TurnRecord, hash: string): Promise<TurnReceipt> {
    const winner =
      (await this.turns.find(record.orgId, record.turnId)) ??
      (await this.turns.findDone(record.orgId, record.agentId, record.workKey));
    if (!winner) throw new Error(`turn ${record.turnId} was neither stored nor found`);
    if (winner.turnId === record.turnId && winner.contentHash !== hash) throw conflict();
    return receipt(winner, 'duplicate');
  }

  private episodeOf(
    record: TurnRecord & { body: FinishedTurn },
    agent: Agent,
    prepared: PreparedEpisode,
  ): EpisodeDraft {
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

  private announce(record: TurnRecord & { body: FinishedTurn }, agent: Agent, taskSummary: string): void {
    const turn = record.body;
    const about = {
      org_id: record.orgId,
      agent_id: agent.id,
      agent_handle: agent.handle,
      role: agent.role,
      turn_id: record.turnId,
      trace_id: record.traceId,
      span_id: record.spanId,
    };
    const duration = record.endedAt.getTime() - record.startedAt.getTime();
    this.events.publish('episode.written', {
      ...about,
      payload: {
        review_outcome: turn.review_outcome,
        duration_ms: duration,
        tool_count: turn.tool_sequence.length,
      },
    });
    this.events.publish('turn.completed', {
      ...about,
      payload: {
        task_id: turn.task_id,
        started_at: turn.started_at,
        ended_at: turn.ended_at,
        duration_ms: duration,
        task_summary: taskSummary,
        plan_summary: turn.plan.summary,
        plan_decision: turn.plan.decision,
        tool_sequence: turn.tool_sequence,
        plan_tool_sequence: turn.plan_tool_sequence,
        skills_used: turn.skills_used,
        review_outcome: turn.review_outcome,
        iterations: turn.iterations,
      },
    });
  }
}

function receipt(turn: TurnRecord, status: TurnReceipt['status']): TurnReceipt {
  return { turn_id: turn.turnId, episode_id: turn.episodeId, status };
}

function conflict(): ApiError {
  return new ApiError(409, 'turn.conflict', 'This turn_id is already stored with another content.');
}
