import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Agent } from '../../core/organization/agents.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { PromotionUnit, SkillCluster, StoredDraft } from './promotion.models.js';
import type { Distillate } from './promotion-synthesizer.js';
import { PromotionStore } from './promotion.store.js';

export interface JudgedCluster {
  unit: PromotionUnit;
  cluster: SkillCluster;
  /** On whose account the model was asked. */
  agent: Agent;
  distillate: Distillate;
}

/**
 * The write boundary of promotion: a draft is stored before anything is written of it, and what is flagged waits in
 * quarantine instead.
 */
@Injectable()
export class ScreenedPromotions implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'promotion_draft';

  constructor(
    private readonly database: Database,
    private readonly promotions: PromotionStore,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** The draft to be written; null where none is. */
  async settle({ unit, cluster, agent, distillate }: JudgedCluster): Promise<StoredDraft | null> {
    const verdict = { orgId: unit.orgId, unit: unit.name, cluster, role: agent.role };
    if (distillate.outcome === 'refused') {
      await this.promotions.record({ ...verdict, state: 'refused', reason: distillate.reason, draft: null });
      return null;
    }
    const { id, name, description, content } = distillate;
    const draft = { id, name, content };
    const flag = this.screening.check(name, description, content);
    if (!flag.flagged) {
      const kept = await this.promotions.record({ ...verdict, state: 'drafted', reason: null, draft });
      return kept ? { ...draft, orgId: unit.orgId, unit: unit.name } : null;
    }
    const { reason } = flag;
    await this.database.transaction(async () => {
      if (!(await this.promotions.record({ ...verdict, state: 'quarantined', reason, draft }))) return;
      await this.quarantine.hold({
        orgId: unit.orgId,
        agentId: agent.id,
        turnId: null,
        kind: this.kind,
        reason,
        content: `${name}\n\n${content}`,
        payload: { promotion_id: id },
      });
    });
    return null;
  }

  /**
   * The released draft is written at the next look at its unit.
   *
   * @throws ApiError 409 `quarantine.stale` where it is not held any more
   */
  async apply({ orgId, payload }: HeldWrite): Promise<void> {
    const { promotion_id: id } = payload as { promotion_id: string };
    if (await this.promotions.release(orgId, id)) return;
    throw new ApiError(409, 'quarantine.stale', 'The draft is not waiting for a release any more. Discard it.');
  }
}
