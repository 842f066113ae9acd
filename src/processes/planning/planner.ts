import { Injectable, Logger } from '@nestjs/common';
import { ErasedMeanwhile, ErasureGate } from '../../core/personal-data/erasure-gate.js';
import type { BlockResult, PlanBlock, PlanContext, ShownLine } from '../../core/turn/extension-points.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ShutdownSignal } from '../../platform/http/shutdown-signal.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { renderedBlock, resolvedBy } from './block-resolution.js';
import { PlanBlocks } from './plan-blocks.js';
import { PlanContextStore } from './plan-context.store.js';
import type { BlockMeasures } from './planning.events.js';

/** Times that a context is resolved while erasures come in between. */
const ATTEMPTS = 3;

interface ResolvedBlock extends BlockResult {
  block: PlanBlock;
}

/** Resolves the blocks of a plan context once a turn, and freezes the bytes (mission, "Frozen at turn start"). */
@Injectable()
export class Planner {
  private readonly log = new Logger(Planner.name);

  constructor(
    private readonly blocks: PlanBlocks,
    private readonly store: PlanContextStore,
    private readonly gate: ErasureGate,
    private readonly events: EventBus,
    private readonly settings: Settings,
    private readonly shutdown: ShutdownSignal,
  ) {}

  /** The bytes of the turn: those stored first, whoever else resolves the same turn at the same time. */
  async freeze(context: PlanContext): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.freezeUnlessErased(context);
      } catch (error) {
        if (!(error instanceof ErasedMeanwhile)) throw error;
        // What the blocks hold may be what was erased.
        if (attempt === ATTEMPTS)
          throw new ApiError(503, 'service.unavailable', 'Memories are being erased; ask again.');
      }
    }
  }

  private async freezeUnlessErased(context: PlanContext): Promise<string> {
    const since = await this.gate.latest(context.orgId);
    const resolved = await this.resolve(context);
    if (this.shutdown.signal.aborted) {
      // What was broken off must not be frozen: the next process resolves the turn anew.
      throw new ApiError(503, 'service.stopping', 'The service is stopping; ask again.');
    }
    const rendered = render(context, resolved);
    const shown = resolved.flatMap((block) => block.shown ?? []);
    const isFirst = await this.firstStored({ context, since, resolved }, { rendered, shown });
    if (isFirst) {
      this.announce(context, resolved);
      return rendered;
    }
    return (await this.store.find(context.orgId, context.agent.id, context.turnId))?.rendered ?? rendered;
  }

  /** What blocks do after freezing is worth trying, not worth failing the call. */
  private async firstStored(
    { context, since, resolved }: { context: PlanContext; since: string; resolved: readonly ResolvedBlock[] },
    frozen: { rendered: string; shown: ShownLine[] },
  ): Promise<boolean> {
    try {
      return await this.gate.transactionSince(context.orgId, since, async () => {
        if (!(await this.store.freeze(context, frozen))) return false;
        for (const block of resolved) await block.afterFreeze?.();
        return true;
      });
    } catch (error) {
      if (error instanceof ErasedMeanwhile) throw error;
      this.log.warn(`an effect of freezing turn ${context.turnId} of ${context.agent.handle} failed: ${String(error)}`);
      return this.gate.transactionSince(context.orgId, since, () => this.store.freeze(context, frozen));
    }
  }

  private async resolve(context: PlanContext): Promise<ResolvedBlock[]> {
    const deadline = AbortSignal.any([AbortSignal.timeout(this.settings.planning.deadline_ms), this.shutdown.signal]);
    return Promise.all(
      this.blocks.inOrder.map(async (block) => {
        const result = await resolvedBy(
          deadline,
          () => block.resolve(context, deadline),
          (error) => {
            this.log.warn(
              `block ${block.key} failed for turn ${context.turnId} of ${context.agent.handle}: ${String(error)}`,
            );
          },
        );
        return { ...result, block };
      }),
    );
  }

  private announce(context: PlanContext, resolved: readonly ResolvedBlock[]): void {
    const measures = Object.fromEntries<boolean | number>(
      resolved.flatMap(({ block, text }): [string, boolean | number][] => [
        [`${block.key}_hit`, text !== ''],
        [`${block.key}_bytes`, Buffer.byteLength(text)],
      ]),
    );
    for (const { block, text, reason } of resolved) {
      this.events.observe('plan_block.frozen', { block: block.key, reason, hit: text !== '' });
    }
    const knowledge = resolved.find(({ block }) => block.key === 'relevant_knowledge');
    this.events.publish('plan_prefetch.summary', {
      ...aboutTurn(context),
      payload: {
        ...(measures as BlockMeasures),
        relevant_knowledge_selection_count: knowledge?.selection_count ?? 0,
        trigger_requires_recon: context.requiresRecon,
      },
    });
  }
}

function render(context: PlanContext, resolved: readonly ResolvedBlock[]): string {
  return JSON.stringify({
    turn_id: context.turnId,
    agent_id: context.agent.id,
    handle: context.agent.handle,
    role: context.agent.role,
    trigger_requires_recon: context.requiresRecon,
    frozen_at: context.frozenAt.toISOString(),
    prompt: resolved
      .filter(({ text }) => text !== '')
      .map(({ block, text }) => `${block.heading}\n\n${text}`)
      .join('\n\n'),
    blocks: resolved.map((result) => renderedBlock(result.block, result)),
  });
}
