import { Controller, Delete, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { Agents } from '../../core/organization/agents.js';
import { UnitChains } from '../../core/organization/unit-chains.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { chainHash } from './chain-hash.js';
import { OnboardingMarkers } from './onboarding-markers.js';
import { LeaseRelease } from './onboarding.dto.js';

/** The right to run the agent's onboarding pass. */
export interface OnboardingLeaseView {
  lease_id: string;
  expires_at: string;
  /** Whether the agent is onboarded for its present place already: then there is nothing to run. */
  onboarded: boolean;
}

@Controller('agents/:id/onboarding/lease')
@Scope('engine')
export class OnboardingController {
  constructor(
    private readonly agents: Agents,
    private readonly chains: UnitChains,
    private readonly markers: OnboardingMarkers,
  ) {}

  /** Lets one caller run the agent's onboarding as a pass of its own, for 900 seconds; `mark_onboarded` ends it. */
  @Post()
  @ApiResponse({ status: 409, description: 'Somebody holds the lease (`onboarding.lease_held`).' })
  async acquire(@CurrentPrincipal() { orgId }: Principal, @Param('id') id: string): Promise<OnboardingLeaseView> {
    const agent = await this.agents.get(orgId, id);
    // First of all: a lease that nobody is told of would keep the pass from being run for as long as it holds.
    const chain = await this.chains.of(orgId, agent.id);
    const lease = await this.markers.lease({ orgId, agentId: agent.id });
    if ('heldUntil' in lease) {
      const until = lease.heldUntil ? ` until ${lease.heldUntil.toISOString()}` : '';
      throw new ApiError(409, 'onboarding.lease_held', `The agent is being onboarded${until}.`);
    }
    return {
      lease_id: lease.leaseId,
      expires_at: lease.expiresAt.toISOString(),
      onboarded: chain !== null && lease.chainHash === chainHash(chain),
    };
  }

  /** Ends the lease; also where there is none. */
  @Delete()
  @HttpCode(204)
  async release(
    @CurrentPrincipal() { orgId }: Principal,
    @Param('id') id: string,
    @Query() { lease_id: leaseId }: LeaseRelease,
  ): Promise<void> {
    const agent = await this.agents.get(orgId, id);
    await this.markers.release({ orgId, agentId: agent.id }, leaseId);
  }
}
