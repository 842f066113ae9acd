import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { Agent, Role } from '../../core/organization/agents.js';
import type { ReflectionInput } from '../../core/turn/extension-points.js';
import { salientText } from '../../core/turn/salient-text.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import type { TurnRecord } from '../../core/turn/turn.store.js';
import { PlanContextStore } from '../planning/plan-context.store.js';
import type { ReflectionTimeline } from './reflection-timeline.js';

export interface Pass {
  turn: TurnRecord;
  body: FinishedTurn;
  agent: Agent;
  role: Role;
  timeline: ReflectionTimeline;
  signal: AbortSignal;
  /** The last erasure that what is read from here on has seen. */
  readSince: string;
}

/** Puts together what every worker is handed. */
@Injectable()
export class ReflectionInputs {
  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly contexts: PlanContextStore,
  ) {}

  async of({ turn, body, agent, role, signal }: Pass): Promise<ReflectionInput> {
    const context = await this.contexts.find(turn.orgId, agent.id, turn.turnId);
    return {
      turn: {
        orgId: turn.orgId,
        agent: { id: agent.id, handle: agent.handle, role: agent.role },
        turn: body,
        episodeId: turn.episodeId,
        workKey: turn.workKey,
        salientText: salientText(body.interactions, body.task_description),
        traceId: turn.traceId,
        spanId: turn.spanId,
      },
      shown: context && { lines: context.shown },
      role: { name: role.name, chain: this.auxiliary.chainOf(role) },
      signal,
    };
  }
}
