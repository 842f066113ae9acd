import { Injectable, Logger } from '@nestjs/common';
import { oneLine } from '../../core/auxiliary/fence.js';
import { UnitChains, type UnitChain } from '../../core/organization/unit-chains.js';
import type { BlockReason, BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { chainHash } from './chain-hash.js';
import { OnboardingMarkers } from './onboarding-markers.js';

/** `## First-turn onboarding`: where the agent reads up on its place, until it says that it has. Makes no request. */
@Injectable()
export class OnboardingBlock implements PlanBlock {
  readonly key = 'onboarding';
  readonly heading = '## First-turn onboarding';
  private readonly log = new Logger(OnboardingBlock.name);

  constructor(
    private readonly chains: UnitChains,
    private readonly markers: OnboardingMarkers,
  ) {}

  async resolve({ orgId, agent, availableTools }: PlanContext): Promise<BlockResult> {
    // An agent that cannot say that it is done would be told for ever.
    if (!availableTools.includes('mark_onboarded')) return empty('not_applicable');
    const chain = await this.chainOf(orgId, agent.id);
    if (!chain) return empty('search_failed');
    const state = await this.markers.stateOf({ orgId, agentId: agent.id }, chainHash(chain));
    if (state === 'unknown') return empty('search_failed');
    if (state === 'onboarded') return empty('not_applicable');
    return {
      text: render(chain, availableTools.includes('reflect_and_persist')),
      selection_count: 1 + chain.units.length,
      reason: 'selected',
    };
  }

  private async chainOf(orgId: string, agentId: string): Promise<UnitChain | null> {
    try {
      return await this.chains.of(orgId, agentId);
    } catch (error) {
      this.log.warn(`the units of agent ${agentId} could not be looked up: ${String(error)}`);
      return null;
    }
  }
}

function render({ organization, units, role }: UnitChain, canPersist: boolean): string {
  const pages = [
    `the organisation **${oneLine(organization)}**`,
    ...units.map((unit) => `the unit **${oneLine(unit)}**`),
  ];
  const keep = canPersist ? 'Keep what later turns will need with `reflect_and_persist`, one fact a call. ' : '';
  return [
    `You are new in your place as ${oneLine(role)}. Before you plan, read the page "Onboarding" in each of these areas of ` +
      'the knowledge base, in this order:',
    '',
    ...pages.map((page) => `- ${page}`),
    '',
    `${keep}An area without such a page is passed over. Then call \`mark_onboarded\` with a short summary of what you ` +
      'learned; until you do, you are asked again.',
  ].join('\n');
}

function empty(reason: BlockReason): BlockResult {
  return { text: '', selection_count: 0, reason };
}
