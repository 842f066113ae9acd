import type { BlockReason, PlanBlockKey } from '../../core/turn/extension-points.js';
import type { PlanDecision } from '../../core/turn/turn.models.js';

export type BlockMeasures = { [Key in PlanBlockKey as `${Key}_hit`]: boolean } & {
  /** UTF-8. */
  [Key in PlanBlockKey as `${Key}_bytes`]: number;
};

declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** The blocks of a turn were resolved and frozen, once a turn. */
    'plan_prefetch.summary': BlockMeasures & {
      relevant_knowledge_selection_count: number;
      trigger_requires_recon: boolean;
    };
    /** The search that a thin trigger held back was made by the plan, once an iteration, whatever it found. */
    'relevant_knowledge.refetched': {
      iteration: number;
      plan_decision: PlanDecision;
      /** UTF-8. */
      block_bytes: number;
      selection_count: number;
    };
  }

  interface AppObservations {
    /** A block of a plan context was frozen. */
    'plan_block.frozen': { block: PlanBlockKey; reason: BlockReason; hit: boolean };
  }
}
