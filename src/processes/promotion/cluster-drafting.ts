import { Injectable } from '@nestjs/common';
import type { PromotionUnit, SkillCluster, StoredDraft } from './promotion.models.js';
import { type PromotionModel, PromotionSynthesizer } from './promotion-synthesizer.js';
import { ScreenedPromotions } from './screened-promotions.js';

/** From a cluster to a stored draft: what the model was paid for is kept before anything is done with it. */
@Injectable()
export class ClusterDrafting {
  constructor(
    private readonly synthesizer: PromotionSynthesizer,
    private readonly screened: ScreenedPromotions,
  ) {}

  /**
   * Null where no draft is to be written: the cluster was refused, or the draft waits in quarantine.
   *
   * @throws AuxiliaryUnavailable if no provider replied
   */
  async draft(unit: PromotionUnit, cluster: SkillCluster, model: PromotionModel): Promise<StoredDraft | null> {
    const distillate = await this.synthesizer.distil(cluster, model);
    return this.screened.settle({ unit, cluster, agent: model.agent, distillate });
  }
}
