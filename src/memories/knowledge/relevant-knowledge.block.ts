import { Injectable } from '@nestjs/common';
import type { BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { RelevantKnowledge } from './relevant-knowledge.js';

/** `## Relevant knowledge`: pages of the team's knowledge base that bear on what was said. */
@Injectable()
export class RelevantKnowledgeBlock implements PlanBlock {
  readonly key = 'relevant_knowledge';
  readonly heading = '## Relevant knowledge';

  constructor(private readonly knowledge: RelevantKnowledge) {}

  resolve(context: PlanContext, signal: AbortSignal): Promise<BlockResult> {
    return this.knowledge.find({ ...context, task: context.salientText, isThin: context.requiresRecon }, signal);
  }
}
