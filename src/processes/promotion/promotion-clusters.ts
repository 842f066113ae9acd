import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { convergingClusters, identityOf } from './promotion-memory.js';
import type { PromotionUnit, SkillCluster } from './promotion.models.js';
import { PromotionStore } from './promotion.store.js';
import { PromotionUnits } from './promotion-units.js';

/** What the members of a unit have learned alike. */
@Injectable()
export class PromotionClusters {
  constructor(
    private readonly units: PromotionUnits,
    private readonly promotions: PromotionStore,
    private readonly settings: Settings,
  ) {}

  /** The clusters that the model may be asked about. Whoever has joined one that has its draft is remembered with it. */
  async open(unit: PromotionUnit): Promise<SkillCluster[]> {
    const { jaccard_threshold: threshold, min_sibling_count: minAgents } = this.settings.learning.skill_promotion;
    const clusters = convergingClusters(await this.units.skills(unit), { threshold, minAgents });
    if (clusters.length === 0) return [];
    const earlier = await this.promotions.known(unit.orgId, unit.name);
    const open: SkillCluster[] = [];
    for (const cluster of clusters) {
      const identity = identityOf(cluster, earlier);
      if (identity.status === 'new') open.push(cluster);
      if (identity.status === 'known') await this.promotions.join(identity.promotions, unit, identity.joined);
    }
    return open;
  }
}
