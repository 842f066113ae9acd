import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import type { ReflectionInput, ReflectionWorker, WorkerEnd, WorkerResult } from '../../core/turn/extension-points.js';
import { identityOf, mergeBySender } from '../../core/turn/interactions.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import type { Interaction } from '../../core/turn/turn.models.js';
import { Settings } from '../../platform/config/settings.js';
import { EventBus } from '../../platform/events/event-bus.js';
import './counterparty.events.js';
import type { Encounter, ProfileRow } from './counterparty.models.js';
import { counterpartyProfilerAnswer, counterpartyProfilerFormat } from './counterparty-profiler.answer.js';
import { COUNTERPARTY_PROFILER_RULES, counterpartyProfilerPrompt } from './counterparty-profiler.prompt.js';
import { CounterpartyReader } from './counterparty-reader.js';
import { ScreenedCounterparties } from './screened-counterparties.js';
import { isEmptyPatch, readPatch, type TraitPatch } from './trait-patch.js';

/**
 * Notes after a turn, of whatever outcome, what each of its senders showed of themselves (mission, "CounterpartyProfiler"):
 * one pass a distinct sender. That they met counts in any case, once a trigger, whatever the model says.
 */
@Injectable()
export class CounterpartyProfiler implements ReflectionWorker {
  readonly name = 'counterparty_profiler';

  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly reader: CounterpartyReader,
    private readonly counterparties: ScreenedCounterparties,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  skipReason(input: ReflectionInput): string | null {
    if (!this.settings.learning.counterparty.enabled) return 'disabled';
    if (sendersOf(input).size === 0) return 'no_sender';
    return input.role.chain.length === 0 ? 'no_model' : null;
  }

  parts(input: ReflectionInput): string[] {
    return [...sendersOf(input).keys()];
  }

  async run(input: ReflectionInput, part: string): Promise<WorkerResult> {
    const sender = sendersOf(input).get(part);
    if (!sender || (sender.body ?? '').trim() === '') return { outcome: 'noop', reason: 'nothing_said' };
    const { orgId, agent, turn, traceId, spanId } = input.turn;
    const [known] = await this.reader.ofSenders({ orgId, agentId: agent.id }, [identityOf(sender)]);
    const answer = await this.auxiliary.ask({
      orgId,
      agent,
      chain: input.role.chain,
      turnId: turn.turn_id,
      traceId,
      spanId,
      worker: this.name,
      system: COUNTERPARTY_PROFILER_RULES,
      user: counterpartyProfilerPrompt({ turn, sender, known: known ?? null }),
      schema: counterpartyProfilerAnswer,
      format: counterpartyProfilerFormat,
      maxTokens: this.settings.learning.counterparty.budget_tokens,
      signal: input.signal,
    });
    if (answer.kind === 'unusable') return { outcome: 'failed', reason: 'unusable_answer', error: answer.reason };
    const patch = answer.kind === 'noop' ? null : readPatch(answer.value.traits);
    if (!patch || isEmptyPatch(patch)) return { outcome: 'noop' };
    return this.observed(input, sender, patch);
  }

  /** What the profiler was switched off for is not counted either: an operator who wants no profiles gets none. */
  async settle(input: ReflectionInput, part: string, end: WorkerEnd): Promise<void> {
    if (!this.settings.learning.counterparty.enabled) return;
    const senders = sendersOf(input);
    const met = part === '' ? [...senders.values()] : [senders.get(part)].filter((sender) => sender !== undefined);
    for (const sender of met) {
      const row = await this.counterparties.count(encounterOf(input, sender));
      // A part that is done has told of its observation.
      if (row && end !== 'done') this.announce(input, row, 0);
    }
  }

  private observed(input: ReflectionInput, sender: Interaction, patch: TraitPatch): WorkerResult {
    const encounter = encounterOf(input, sender);
    const screened = this.counterparties.prepare(encounter, patch);
    return {
      outcome: 'done',
      ...(screened.flag === null ? {} : { reason: 'quarantined' }),
      apply: async () => {
        const written = await this.counterparties.observe(screened);
        if (written.status === 'observed') {
          this.announce(input, written.row, Object.keys({ ...patch.traits, ...patch.noLonger }).length);
          return;
        }
        const row = await this.counterparties.count(encounter);
        if (row) this.announce(input, row, 0);
      },
    };
  }

  private announce(input: ReflectionInput, row: ProfileRow, traitsPatched: number): void {
    const { agent, turn } = input.turn;
    this.events.publish('counterparty_profile.updated', {
      ...aboutTurn({ ...input.turn, turnId: turn.turn_id }),
      payload: {
        observer_handle: agent.handle,
        role: agent.role,
        turn_id: turn.turn_id,
        subject_handle: row.subject_handle || null,
        subject_external_id: row.subject_external_id || null,
        subject_platform: row.subject_platform || null,
        subject_name: row.subject_name || null,
        traits_patched: traitsPatched,
      },
    });
  }
}

const sendersOfInputs = new WeakMap<ReflectionInput, Map<string, Interaction>>();

/** The turn's distinct senders by the keys of their parts; worked out once a pass. */
function sendersOf(input: ReflectionInput): Map<string, Interaction> {
  const known = sendersOfInputs.get(input);
  if (known) return known;
  const senders = mergeBySender(input.turn.turn.interactions);
  const byPart = new Map(senders.map((sender) => [partOf(input, sender), sender]));
  sendersOfInputs.set(input, byPart);
  return byPart;
}

/** A digest that is of no use without the turn: the ledger outlives who is named in it. */
function partOf(input: ReflectionInput, sender: Interaction): string {
  const identity = JSON.stringify([input.turn.turn.turn_id, identityOf(sender)]);
  return createHash('sha256').update(identity).digest('hex').slice(0, 16);
}

function encounterOf(input: ReflectionInput, sender: Interaction): Encounter {
  const { orgId, agent, turn, workKey } = input.turn;
  return {
    orgId,
    agentId: agent.id,
    sender: { ...identityOf(sender), name: (sender.display_name ?? '').replace(/\s+/gu, ' ').trim() },
    turnId: turn.turn_id,
    triggerKey: workKey || turn.turn_id,
    // A clock that runs ahead must not make of its turns ones that nothing contradicts.
    at: new Date(Math.min(Date.parse(turn.ended_at), Date.now())),
  };
}
