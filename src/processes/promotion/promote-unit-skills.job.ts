import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import { Settings } from '../../platform/config/settings.js';
import { JobHandlers } from '../../platform/jobs/job-handlers.js';
import type { JobContext, JobHandler, JobOutcome, JobPayload } from '../../platform/jobs/job.models.js';
import { PromotionUnits } from './promotion-units.js';
import { SkillPromotion } from './skill-promotion.js';

export const PROMOTE_UNIT_SKILLS = 'promote-unit-skills';

/** While every provider is left alone. */
const BREAKER_WAIT_MS = 30_000;

export interface PromoteUnitPayload extends JobPayload {
  /** Its name. */
  unit: string;
}

/** Promotes what the members of one unit have learned. Runs on the unit's queue, so that two looks see each other's drafts. */
@Injectable()
export class PromoteUnitSkillsJob implements JobHandler<PromoteUnitPayload>, OnModuleInit {
  readonly task = PROMOTE_UNIT_SKILLS;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly units: PromotionUnits,
    private readonly promotion: SkillPromotion,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  /** A fault that passes by is thrown: the job tries again with back-off, and is dead once its attempts are spent. */
  async run({ org_id: orgId, unit: name }: PromoteUnitPayload, { signal }: JobContext): Promise<JobOutcome> {
    if (!this.settings.learning.skill_promotion.enabled) return { status: 'done' };
    const unit = await this.units.find(orgId, name);
    if (!unit) return { status: 'done' };
    try {
      return await this.promotion.run(unit, signal);
    } catch (error) {
      if (!(error instanceof AuxiliaryUnavailable) || signal.aborted) throw error;
      if (error.fault === 'refused') return { status: 'dead', error: error.message };
      if (error.fault !== 'open') throw error;
      const at = error.retryAt ?? new Date(Date.now() + BREAKER_WAIT_MS);
      return { status: 'again', at, reason: error.message };
    }
  }
}
