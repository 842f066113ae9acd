import { PLAN_BLOCK_KEYS, type PlanBlock, type PlanBlockKey } from '../../core/turn/extension-points.js';

/** Headings as they stand in the prompt; a block that nobody offers keeps its place and is `not_configured`. */
const HEADINGS: Record<PlanBlockKey, string> = {
  onboarding: '## First-turn onboarding',
  personal_memory: '## Personal memory',
  synthesized_skills: "## Synthesized skills you've learned",
  relevant_knowledge: '## Relevant knowledge',
  similar_prior_work: '## Similar prior work',
  counterparty: '## Known counterparty',
  tool_skills: '## Tool skills',
};

/** The seven blocks of a plan context in their fixed order. */
export class PlanBlocks {
  readonly inOrder: readonly PlanBlock[];

  constructor(offered: readonly PlanBlock[]) {
    this.inOrder = PLAN_BLOCK_KEYS.map((key) => offered.find((block) => block.key === key) ?? notConfigured(key));
  }
}

function notConfigured(key: PlanBlockKey): PlanBlock {
  return {
    key,
    heading: HEADINGS[key],
    resolve: () => Promise.resolve({ text: '', selection_count: 0, reason: 'not_configured' as const }),
  };
}
