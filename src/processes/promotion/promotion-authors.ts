import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { type Agent, Agents } from '../../core/organization/agents.js';
import { Settings } from '../../platform/config/settings.js';
import type { PromotionUnit } from './promotion.models.js';
import { PromotionUnits } from './promotion-units.js';

/** On whose account the model is asked about a unit. */
export interface PromotionAuthor {
  agent: Agent;
  /** The auxiliary providers of the agent's role; not empty. */
  chain: readonly string[];
}

@Injectable()
export class PromotionAuthors {
  constructor(
    private readonly units: PromotionUnits,
    private readonly agents: Agents,
    private readonly auxiliary: AuxiliaryModel,
    private readonly settings: Settings,
  ) {}

  /** The unit's lead, else the first member, whose role learns and has a model; null where there is none. */
  async of(unit: PromotionUnit): Promise<PromotionAuthor | null> {
    for (const handle of await this.units.authors(unit)) {
      const agent = await this.agents.find(unit.orgId, handle);
      const role = agent && (await this.agents.role(unit.orgId, agent.role));
      if (!role || !(role.learningEnabled ?? this.settings.learning.enabled)) continue;
      const chain = this.auxiliary.chainOf(role);
      if (chain.length > 0) return { agent, chain };
    }
    return null;
  }
}
