import { Injectable } from '@nestjs/common';
import type { PlanContext } from '../../core/turn/extension-points.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { TraceIds } from '../../platform/http/trace-context.js';
import { renderedBlock } from './block-resolution.js';
import type { ExecuteContextDto } from './execute-context.dto.js';
import { ExecuteContextStore } from './execute-context.store.js';
import { FrozenContexts } from './frozen-contexts.js';
import { PlanBlocks } from './plan-blocks.js';
import './planning.events.js';
import { PostPlanKnowledge, type Refetched } from './post-plan-knowledge.js';

/** Answers `POST /agents/:id/execute-context`. */
@Injectable()
export class ExecuteContexts {
  constructor(
    private readonly contexts: FrozenContexts,
    private readonly store: ExecuteContextStore,
    private readonly knowledge: PostPlanKnowledge,
    private readonly blocks: PlanBlocks,
    private readonly events: EventBus,
  ) {}

  /** The bytes stored first for the iteration, whoever else asks at the same time; 404 without a plan context. */
  async ofIteration(asked: {
    orgId: string;
    agent: string;
    request: ExecuteContextDto;
    trace: TraceIds;
  }): Promise<string> {
    const { orgId, request, trace } = asked;
    const context = await this.contexts.get(orgId, asked.agent, request.turn_id);
    const ref = { orgId, agentId: context.agent.id, turnId: request.turn_id, iteration: request.iteration };
    const stored = await this.store.find(ref);
    if (stored !== null) return stored;
    const traced = { ...context, traceId: trace.traceId ?? context.traceId, spanId: trace.spanId ?? context.spanId };
    const refetched = await this.knowledge.fetch(traced, request);
    if (this.knowledge.isBrokenOff) throw new ApiError(503, 'service.stopping', 'The service is stopping; ask again.');
    const rendered = this.render(refetched);
    if (await this.store.freeze(ref, rendered)) {
      this.announce(traced, request, refetched);
      return rendered;
    }
    return (await this.store.find(ref)) ?? rendered;
  }

  /** There is a block where there is something to read in it. */
  private render(refetched: Refetched): string {
    const block = this.blocks.inOrder.find(({ key }) => key === 'relevant_knowledge')!;
    const shown = refetched.isActive && refetched.result.text !== '' ? renderedBlock(block, refetched.result) : null;
    return JSON.stringify({ block: shown, reason: refetched.reason });
  }

  private announce(context: PlanContext, request: ExecuteContextDto, refetched: Refetched): void {
    if (!refetched.isActive) return;
    this.events.publish('relevant_knowledge.refetched', {
      ...aboutTurn(context),
      payload: {
        iteration: request.iteration,
        plan_decision: request.plan_decision,
        block_bytes: Buffer.byteLength(refetched.result.text),
        selection_count: refetched.result.selection_count,
      },
    });
  }
}
