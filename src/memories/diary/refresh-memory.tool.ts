import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition, toolError } from '../../core/turn/tool-arguments.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { AgentDiary } from './agent-diary.js';
import { DiaryReader } from './diary.reader.js';
import { NO_MATCH_HINT, renderDigest } from './memory-digest.js';
import { MemoryFilter } from './memory-filter.js';
import { MemoryRefreshStore } from './memory-refresh.store.js';
import { CANDIDATES } from './personal-memory.block.js';

const NOTHING_RELEVANT = 'You have no relevant personal memories.';

const schema = z.object({
  context_hint: z
    .string()
    .refine((hint) => hint.trim() !== '', 'context_hint must not be empty')
    .describe('What you have found out about this task since it began, in a sentence or two.'),
});

/** Runs the memory filter again with what has been found out (mission, "Personal memory prefetch + refresh"). */
@Injectable()
export class RefreshMemoryTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'refresh_memory',
    description:
      'Use after a look at the ticket, thread or code has changed what you think the task is: finds the memories that bear on it now.',
    arguments: schema,
  });
  readonly phases = ['plan'] as const;

  constructor(
    private readonly reader: DiaryReader,
    private readonly diary: AgentDiary,
    private readonly filter: MemoryFilter,
    private readonly store: MemoryRefreshStore,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const hint = read.value.context_hint;
    const turn = { orgId: call.orgId, agentId: call.agent.id, turnId: call.turnId };
    const known = await this.store.find(turn, hint);
    if (known) return answer(known);
    const cap = this.settings.learning.personal_memory.max_refreshes_per_turn;
    if ((await this.store.count(turn)) >= cap) return capReached(cap);
    return this.refresh(call, hint, cap);
  }

  private async refresh(call: ToolCall, hint: string, cap: number): Promise<ToolResult> {
    const salientText = call.context?.salientText ?? '';
    const candidates = await this.reader.pool({
      orgId: call.orgId,
      agentId: call.agent.id,
      query: salientText === '' ? hint : `${hint}\n\n${salientText}`,
      limits: CANDIDATES,
      now: new Date(),
      signal: call.signal,
    });
    if (candidates.length === 0)
      return answer({ output: NOTHING_RELEVANT, data: { selection_count: 0, selected: [] } });
    const result = await this.filter.select({
      ...call,
      interactions: call.context?.interactions ?? [],
      salientText,
      hint,
      candidates,
    });
    if (result.status === 'model_unavailable' || result.status === 'filter_failed') {
      // Neither stored nor counted: the next try may work.
      return toolError('Your memories could not be filtered just now. Go on without them, or try again later.', {
        reason: result.status,
      });
    }
    const { text, shown } =
      result.status === 'selected' ? renderDigest(result.memories) : { text: NO_MATCH_HINT, shown: [] };
    const selected = shown.map((line) => line.id);
    const refresh = { output: text, data: { selection_count: shown.length, selected } };
    const turn = { orgId: call.orgId, agentId: call.agent.id, turnId: call.turnId };
    const stored = await this.database.transaction(async () => {
      const outcome = await this.store.store(turn, hint, { ...refresh, cap });
      if (outcome === 'stored') await this.diary.markRetrieved(call.orgId, call.agent.id, selected);
      return outcome;
    });
    if (stored === 'cap_reached') return capReached(cap);
    return answer((stored === 'already_stored' ? await this.store.find(turn, hint) : null) ?? refresh);
  }
}

function answer(refresh: { output: string; data: Record<string, unknown> }): ToolResult {
  return { output: refresh.output, is_error: false, data: refresh.data };
}

function capReached(cap: number): ToolResult {
  return toolError(
    `refresh_memory: cap reached (${cap} different hints a turn). Go on with what you have, or repeat an earlier hint to see its answer again.`,
    { cap },
  );
}
