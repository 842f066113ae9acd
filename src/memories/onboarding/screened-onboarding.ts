import { Injectable, type OnModuleInit } from '@nestjs/common';
import { UnitChains } from '../../core/organization/unit-chains.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { chainHash } from './chain-hash.js';
import { OnboardingMarkers, type AgentKey } from './onboarding-markers.js';

export type MarkResult =
  { status: 'marked'; chainHash: string } | { status: 'quarantined'; quarantineId: string; reason: string };

interface HeldMark {
  chainHash: string;
  summary: string;
}

/** The write boundary of onboarding: the summary is the model's text, and what is flagged in it waits in quarantine. */
@Injectable()
export class ScreenedOnboarding implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'onboarding';

  constructor(
    private readonly database: Database,
    private readonly chains: UnitChains,
    private readonly markers: OnboardingMarkers,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** For the place that the agent has now. */
  async mark({ summary, turnId, ...agent }: AgentKey & { turnId: string; summary: string }): Promise<MarkResult> {
    const verdict = this.screening.check(summary);
    return this.database.transaction(async () => {
      const hash = await this.presentHash(agent);
      if (!verdict.flagged) {
        await this.markers.mark(agent, { chainHash: hash, summary, turnId });
        return { status: 'marked', chainHash: hash };
      }
      const payload: HeldMark = { chainHash: hash, summary };
      const quarantineId = await this.quarantine.hold({
        ...agent,
        turnId,
        kind: this.kind,
        reason: verdict.reason,
        content: summary,
        payload,
      });
      return { status: 'quarantined', quarantineId, reason: verdict.reason };
    });
  }

  /** @throws ApiError 409 `quarantine.stale` where the agent has another place by now */
  async apply({ orgId, agentId, turnId, payload }: HeldWrite): Promise<void> {
    const { chainHash: hash, summary } = payload as HeldMark;
    const agent = { orgId, agentId };
    if ((await this.presentHash(agent)) !== hash) {
      const detail = "The agent's units or role have changed since: it has to be onboarded anew. Discard this one.";
      throw new ApiError(409, 'quarantine.stale', detail);
    }
    await this.markers.mark(agent, { chainHash: hash, summary, turnId: turnId! });
  }

  private async presentHash({ orgId, agentId }: AgentKey): Promise<string> {
    const chain = await this.chains.of(orgId, agentId);
    if (!chain) throw new ApiError(404, 'agent.not_found', 'There is no such agent.');
    return chainHash(chain);
  }
}
