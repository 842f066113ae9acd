import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ErasedMeanwhile, ErasureGate } from '../../core/personal-data/erasure-gate.js';
import { z } from 'zod';
import type { AgentTool, ShownLine, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition, toolError } from '../../core/turn/tool-arguments.js';
import { Settings } from '../../platform/config/settings.js';
import { AgentDiary } from './agent-diary.js';
import { DiaryReader } from './diary.reader.js';
import { NO_MATCH_HINT, renderDigest } from './memory-digest.js';
import { MemoryFilter } from './memory-filter.js';
import { MemoryRefreshStore, type RefreshRef, type Reservation } from './memory-refresh.store.js';
import { CANDIDATES } from './personal-memory.block.js';

/** Milliseconds that one answer may take; if the service dies meanwhile, the hint may be tried again after them. */
const LEASE_MS = 120_000;
/** Milliseconds between looks at what an equal hint under way has come to. */
const POLL_MS = 100;

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
    private readonly gate: ErasureGate,
    private readonly settings: Settings,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const ref = { orgId: call.orgId, agentId: call.agent.id, turnId: call.turnId, hint: read.value.context_hint };
    const known = await this.store.find(ref);
    if (known) return answer(known);
    if (!(await this.reader.hasLive(call.orgId, call.agent.id, new Date()))) return nothing();
    const cap = this.settings.learning.personal_memory.max_refreshes_per_turn;
    for (;;) {
      const claim = await this.store.claim(ref, { cap, leaseMs: LEASE_MS });
      if (claim.status === 'stored') return answer(claim.refresh);
      if (claim.status === 'cap_reached') return capReached(cap);
      if (claim.status === 'reserved') return this.refreshIn(claim.reservation, call, ref);
      await setTimeout(POLL_MS, undefined, { signal: call.signal });
    }
  }

  /** Whatever comes of it but an answer gives the place back. */
  private async refreshIn(reservation: Reservation, call: ToolCall, ref: RefreshRef): Promise<ToolResult> {
    const since = await this.gate.latest(call.orgId);
    try {
      // An answer that came after the lease would be one too many.
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LEASE_MS)]);
      const chosen = await this.choose({ ...call, signal }, ref.hint);
      if (!('shown' in chosen)) return chosen;
      const selected = chosen.shown.map((line) => line.id);
      const refresh = { output: chosen.text, data: { selection_count: selected.length, selected } };
      const stored = await this.gate.transactionSince(call.orgId, since, async () => {
        const completed = await this.store.complete(ref, reservation, refresh);
        if (completed) await this.diary.markRetrieved(call.orgId, call.agent.id, selected);
        return completed;
      });
      return answer(stored ?? (await this.store.find(ref)) ?? refresh);
    } catch (error) {
      if (!(error instanceof ErasedMeanwhile)) throw error;
      return toolError('Your memories have just been changed. Ask again.', { reason: 'erased_meanwhile' });
    } finally {
      await this.store.release(ref, reservation);
    }
  }

  private async choose(call: ToolCall, hint: string): Promise<{ text: string; shown: ShownLine[] } | ToolResult> {
    const salientText = call.context?.salientText ?? '';
    const candidates = await this.reader.promptPool({
      orgId: call.orgId,
      agentId: call.agent.id,
      query: salientText === '' ? hint : `${hint}\n\n${salientText}`,
      limits: CANDIDATES,
      now: new Date(),
      signal: call.signal,
    });
    if (candidates.length === 0) return nothing();
    const interactions = call.context?.interactions ?? [];
    const result = await this.filter.select({ ...call, interactions, salientText, hint, candidates });
    if (result.status === 'selected') return renderDigest(result.memories);
    if (result.status === 'none') return { text: NO_MATCH_HINT, shown: [] };
    return toolError('Your memories could not be filtered just now. Go on without them, or try again later.', {
      reason: result.status,
    });
  }
}

function nothing(): ToolResult {
  return answer({ output: NOTHING_RELEVANT, data: { selection_count: 0, selected: [] } });
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
