import { Injectable, Logger } from '@nestjs/common';
import type { BlockReason, BlockResult, PlanContext } from '../../core/turn/extension-points.js';
import { RelevantKnowledge } from '../../memories/knowledge/relevant-knowledge.js';
import { Settings } from '../../platform/config/settings.js';
import { ShutdownSignal } from '../../platform/http/shutdown-signal.js';
import { withSignal } from '../../platform/outbound/deadline.js';
import { resolvedBy } from './block-resolution.js';
import type { ExecuteContextDto } from './execute-context.dto.js';

/** Why there is nothing to fetch again: the plan's block stands, nothing is executed, or nothing was planned. */
export type InactiveReason = 'not_thin' | 'decision_skip' | 'empty_plan';

export type Refetched =
  { isActive: true; result: BlockResult; reason: BlockReason } | { isActive: false; reason: InactiveReason };

/**
 * The search that a thin trigger held back, by what has been planned since (mission, "Post-Plan re-fetch"). The gate is
 * off: the plan says what the turn is about.
 */
@Injectable()
export class PostPlanKnowledge {
  private readonly log = new Logger(PostPlanKnowledge.name);

  constructor(
    private readonly knowledge: RelevantKnowledge,
    private readonly settings: Settings,
    private readonly shutdown: ShutdownSignal,
  ) {}

  /** True where the service stops: what was broken off must not be kept. */
  get isBrokenOff(): boolean {
    return this.shutdown.signal.aborted;
  }

  async fetch(context: PlanContext, plan: ExecuteContextDto): Promise<Refetched> {
    if (!context.requiresRecon) return { isActive: false, reason: 'not_thin' };
    if (plan.plan_decision === 'skip') return { isActive: false, reason: 'decision_skip' };
    if (plan.plan_summary.trim() === '') return { isActive: false, reason: 'empty_plan' };
    const result = await withSignal(this.settings.planning.deadline_ms, this.shutdown.signal, (deadline) =>
      resolvedBy(
        deadline,
        () => this.knowledge.find({ ...context, task: plan.plan_summary, isThin: false }, deadline),
        (error) => {
          this.log.warn(
            `no knowledge after the plan of turn ${context.turnId} of ${context.agent.handle}: ${String(error)}`,
          );
        },
      ),
    );
    return { isActive: true, result, reason: result.reason };
  }
}
