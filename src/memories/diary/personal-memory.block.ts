import { Injectable } from '@nestjs/common';
import type { BlockReason, BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { AgentDiary } from './agent-diary.js';
import { DiaryReader, type PoolLimits } from './diary.reader.js';
import { NO_MATCH_HINT, renderDigest, THIN_TRIGGER_HINT } from './memory-digest.js';
import { MemoryFilter } from './memory-filter.js';

/** Candidates that the filter judges: at most 100 (mission, "Hybrid candidate selection"). */
export const CANDIDATES: PoolLimits = { vector: 50, lexical: 70, recency: 30, total: 100 };

/** `## Personal memory`: what the agent wrote down and what bears on this turn. */
@Injectable()
export class PersonalMemoryBlock implements PlanBlock {
  readonly key = 'personal_memory';
  readonly heading = '## Personal memory';

  constructor(
    private readonly reader: DiaryReader,
    private readonly diary: AgentDiary,
    private readonly filter: MemoryFilter,
  ) {}

  async resolve(context: PlanContext, signal: AbortSignal): Promise<BlockResult> {
    const { orgId, agent, salientText, frozenAt } = context;
    if (context.requiresRecon) {
      const any = await this.reader.hasLive(orgId, agent.id, frozenAt);
      return any ? hint(THIN_TRIGGER_HINT, 'hint_thin_trigger') : empty('nothing_stored');
    }
    if (salientText.trim() === '') return empty('nothing_to_match');
    if (!(await this.reader.hasLive(orgId, agent.id, frozenAt))) return empty('nothing_stored');
    if (context.role.chain.length === 0) return empty('model_unavailable');
    const candidates = await this.reader.promptPool({
      orgId,
      agentId: agent.id,
      query: salientText,
      limits: CANDIDATES,
      now: frozenAt,
      signal,
    });
    const result = await this.filter.select({ ...context, hint: null, candidates, signal });
    if (result.status === 'none') return hint(NO_MATCH_HINT, 'hint_no_match');
    if (result.status !== 'selected') return empty(result.status);
    const { text, shown } = renderDigest(result.memories);
    return {
      text,
      selection_count: shown.length,
      reason: 'selected',
      shown,
      afterFreeze: () =>
        this.diary.markRetrieved(
          orgId,
          agent.id,
          shown.map((line) => line.id),
        ),
    };
  }
}

function empty(reason: BlockReason): BlockResult {
  return { text: '', selection_count: 0, reason };
}

function hint(text: string, reason: BlockReason): BlockResult {
  return { text, selection_count: 0, reason };
}
