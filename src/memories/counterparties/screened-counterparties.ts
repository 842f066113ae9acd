import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { ApiError } from '../../platform/http/api-error.js';
import { CounterpartyProfiles } from './counterparty-profiles.js';
import { describeProfile, type Encounter, type ProfileRef, type ProfileRow } from './counterparty.models.js';
import type { TraitPatch, TraitValues } from './trait-patch.js';

export interface Held {
  status: 'quarantined';
  quarantineId: string;
  reason: string;
}

export interface ScreenedObservation {
  encounter: Encounter;
  patch: TraitPatch;
  /** Why the observation may not reach a prompt before an operator has seen it; null where it may. */
  flag: string | null;
}

export interface ProfileChange {
  traits?: TraitValues;
  /** Null gives the operator's name up. */
  name?: string | null;
}

type HeldEncounter = Pick<Encounter, 'sender' | 'triggerKey'> & { at: string };
type HeldPayload =
  | { operation: 'observe'; encounter: HeldEncounter; patch: TraitPatch }
  | { operation: 'name'; encounter: HeldEncounter }
  | { operation: 'edit'; id: string; change: ProfileChange; at: string };

/**
 * The write boundary of profiles: names and traits are screened, and what is flagged waits in quarantine, the whole of
 * one observation or edit together. All of it joins the running transaction.
 */
@Injectable()
export class ScreenedCounterparties implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'counterparty';

  constructor(
    private readonly profiles: CounterpartyProfiles,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** Counts the encounter; null where it was counted before. A name that is flagged stays out. */
  async count(encounter: Encounter): Promise<ProfileRow | null> {
    const named = this.withoutFlaggedName(encounter);
    if (named.flag === null) return this.profiles.count(encounter);
    await this.hold(encounter, {
      reason: named.flag,
      content: encounter.sender.name,
      payload: { operation: 'name', encounter: heldEncounter(encounter) },
      sameness: { operation: 'name', sender: encounter.sender },
    });
    return this.profiles.count(named.encounter);
  }

  /** Screens ahead of the transaction: many values take their time. */
  prepare(encounter: Encounter, patch: TraitPatch): ScreenedObservation {
    const verdict = this.screening.check(...textsOf(patch.traits), ...textsOf(patch.noLonger));
    const named = this.withoutFlaggedName(encounter).encounter;
    return { encounter: named, patch, flag: verdict.flagged ? verdict.reason : null };
  }

  async observe(observation: ScreenedObservation): Promise<{ status: 'observed'; row: ProfileRow } | Held> {
    const { encounter, patch, flag } = observation;
    if (flag === null) return { status: 'observed', row: await this.profiles.observe(encounter, patch) };
    return this.hold(encounter, {
      reason: flag,
      content: [subjectOf(encounter), ...linesOf(patch.traits)].join('\n'),
      payload: { operation: 'observe', encounter: heldEncounter(encounter), patch },
      sameness: { operation: 'observe', sender: { ...encounter.sender, name: '' }, patch },
    });
  }

  /** Null where there is no such profile. */
  async edit(ref: ProfileRef, change: ProfileChange): Promise<{ status: 'changed'; row: ProfileRow } | Held | null> {
    const found = await this.profiles.find(ref);
    if (!found) return null;
    const verdict = this.screening.check(...textsOf(change.traits ?? {}), change.name ?? '');
    const at = new Date();
    if (verdict.flagged) {
      return this.hold(
        { ...ref, turnId: null },
        {
          reason: verdict.reason,
          content: [
            describeProfile(found),
            ...(change.name ? [`name: ${change.name}`] : []),
            ...linesOf(change.traits ?? {}),
          ].join('\n'),
          payload: { operation: 'edit', id: found.id, change, at: at.toISOString() },
          sameness: { operation: 'edit', id: found.id, change },
        },
      );
    }
    const row = await this.profiles.edit(ref, change, at);
    return row && { status: 'changed', row };
  }

  /**
   * What was held takes the place in time that it had: newer observations win over it.
   *
   * @throws ApiError 409 `quarantine.stale` where the profile of an edit is gone
   */
  async apply({ orgId, agentId, turnId, payload }: HeldWrite): Promise<void> {
    const held = payload as HeldPayload;
    if (held.operation === 'edit') {
      const row = await this.profiles.edit({ orgId, agentId, id: held.id }, held.change, new Date(held.at));
      if (row) return;
      throw new ApiError(409, 'quarantine.stale', 'The profile that this was to change is gone. Discard this one.');
    }
    const { sender, triggerKey, at } = held.encounter;
    const encounter: Encounter = { orgId, agentId, turnId: turnId!, sender, triggerKey, at: new Date(at) };
    const patch = held.operation === 'observe' ? held.patch : null;
    await (patch ? this.profiles.observe(encounter, patch) : this.profiles.name(encounter));
  }

  private withoutFlaggedName(encounter: Encounter): { encounter: Encounter; flag: string | null } {
    const verdict = this.screening.check(encounter.sender.name);
    if (!verdict.flagged) return { encounter, flag: null };
    return { encounter: { ...encounter, sender: { ...encounter.sender, name: '' } }, flag: verdict.reason };
  }

  private async hold(
    write: { orgId: string; agentId: string; turnId: string | null },
    flagged: { reason: string; content: string; payload: HeldPayload; sameness: unknown },
  ): Promise<Held> {
    const { orgId, agentId, turnId } = write;
    const quarantineId = await this.quarantine.hold({ orgId, agentId, turnId, kind: this.kind, ...flagged });
    return { status: 'quarantined', quarantineId, reason: flagged.reason };
  }
}

/** One line a trait. */
function linesOf(traits: TraitValues): string[] {
  return Object.entries(traits).map(([key, values]) => `${key}: ${values.join('; ')}`);
}

/** Each value by itself, each trait as it will be read, and all of it: what is harmless in parts may not be as a whole. */
function textsOf(traits: TraitValues): string[] {
  const lines = linesOf(traits);
  const lists = Object.values(traits);
  return [...lists.flat(), ...lists.map((values) => values.join(' ')), ...lines, lines.join('\n')];
}

function heldEncounter({ sender, triggerKey, at }: Encounter): HeldEncounter {
  return { sender, triggerKey, at: at.toISOString() };
}

function subjectOf({ sender }: Encounter): string {
  return describeProfile({
    subject_platform: sender.platform,
    subject_external_id: sender.externalId,
    subject_handle: sender.handle,
    subject_name: sender.name,
  });
}
