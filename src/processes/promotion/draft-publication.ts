import { Injectable, Logger } from '@nestjs/common';
import { VendorError } from '../../memories/knowledge/vendor-http.js';
import { ContainerFault, PromotionPageWriter } from './promotion-page-writer.js';
import type { PromotionUnit, StoredDraft } from './promotion.models.js';
import { PromotionStore } from './promotion.store.js';

/** `passing`: a moment's wait may help. `blocked`: no other draft of the unit would fare better. */
export interface FailedPublication {
  status: 'failed';
  error: Error;
  passing: boolean;
  blocked: boolean;
}

/** Makes pages of stored drafts. What cannot be written stays stored, and is written at a later time as it stands. */
@Injectable()
export class DraftPublication {
  private readonly log = new Logger('Promotion');
  /** Only so that each is said once: hints about units, as they were logged last. */
  private readonly said = new Map<string, string>();

  constructor(
    private readonly writer: PromotionPageWriter,
    private readonly promotions: PromotionStore,
  ) {}

  /** The unit's space or project; null, with a hint in the log the first time, where it has none that can be written to. */
  containerOf(unit: PromotionUnit): string | null {
    const container = this.writer.resolveUnitContainer(unit);
    const key = JSON.stringify([unit.orgId, unit.name]);
    const hint = container === null ? this.writer.missingContainerHint(unit) : '';
    if (hint !== '' && this.said.get(key) !== hint) {
      this.log.warn(`no drafts are written for the unit "${unit.name}": ${hint}`);
    }
    this.said.set(key, hint);
    return container;
  }

  /** Writes the drafts that wait for their pages, until one is blocked. */
  async publishWaiting(unit: PromotionUnit, signal: AbortSignal): Promise<FailedPublication[]> {
    const waiting = await this.promotions.waiting(unit.orgId, unit.name);
    const container = waiting.length > 0 ? this.containerOf(unit) : null;
    if (container === null) return [];
    const failures: FailedPublication[] = [];
    for (const draft of waiting) {
      const end = await this.publish(unit, { draft, container, signal });
      if (end.status === 'failed') failures.push(end);
      if (end.status === 'failed' && end.blocked) break;
    }
    return failures;
  }

  /** The page is written before the row is: a crash between them finds the page, and writes no other. */
  async publish(
    unit: PromotionUnit,
    { draft, container, signal }: { draft: StoredDraft; container: string; signal: AbortSignal },
  ): Promise<{ status: 'published' } | FailedPublication> {
    try {
      const page = await this.writer.createDraftPage({ unit, container, draft, signal });
      await this.promotions.publish(draft, { ...page, backend: this.writer.backend, containerKey: container });
      return { status: 'published' };
    } catch (error) {
      if (signal.aborted || !(error instanceof VendorError || error instanceof ContainerFault)) throw error;
      await this.promotions.failed(draft, error.message);
      const passing = error instanceof VendorError ? error.fault === 'unavailable' : error.passing;
      return { status: 'failed', error, passing, blocked: passing || error instanceof ContainerFault };
    }
  }
}
