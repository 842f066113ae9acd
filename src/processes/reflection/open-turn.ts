import { Injectable } from '@nestjs/common';
import { ErasureGate } from '../../core/personal-data/erasure-gate.js';
import { TurnStore, type TurnRecord } from '../../core/turn/turn.store.js';

/** Another body took the place of the turn's, or the turn was erased: what was learned from it is nobody's. */
export class Superseded extends Error {}

/** The transactions in which a reflection writes: none for a turn that is no longer the one that was read. */
@Injectable()
export class OpenTurn {
  constructor(
    private readonly turns: TurnStore,
    private readonly gate: ErasureGate,
  ) {}

  /** To be read before anything that is reflected on. */
  readingFrom(orgId: string): Promise<string> {
    return this.gate.latest(orgId);
  }

  /**
   * Runs `write` while the turn is held.
   *
   * @throws Superseded
   * @throws ErasedMeanwhile where something in the organisation was erased after `since`: what was made of it must not be written
   */
  async hold({ orgId, turnId, contentHash }: TurnRecord, since: string, write: () => Promise<void>): Promise<void> {
    await this.gate.transactionSince(orgId, since, async () => {
      const current = await this.turns.find(orgId, turnId, { lock: true });
      if (!current?.body || current.contentHash !== contentHash) throw new Superseded();
      await write();
    });
  }
}
