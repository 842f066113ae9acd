import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** Seconds that a dedicated onboarding pass may take before another one may begin (HTTP contract). */
export const LEASE_SECONDS = 900;

/** `unknown`: the lookup failed. Nobody is told to be onboarded on the strength of that. */
export type OnboardingState = 'onboarded' | 'not_onboarded' | 'unknown';

export interface AgentKey {
  orgId: string;
  agentId: string;
}

export interface OnboardingLease {
  leaseId: string;
  expiresAt: Date;
  /** Hash of the chain that the agent is onboarded for; null where it never was. */
  chainHash: string | null;
}

interface LeaseRow {
  lease_id: string;
  lease_until: Date;
  chain_hash: string | null;
}

/** Which agent has been onboarded for which place, and which one is being onboarded right now. */
@Injectable()
export class OnboardingMarkers {
  private readonly log = new Logger(OnboardingMarkers.name);

  constructor(private readonly database: Database) {}

  /** Never throws. */
  async stateOf({ orgId, agentId }: AgentKey, chainHash: string): Promise<OnboardingState> {
    try {
      const [row] = await this.database.query<{ chain_hash: string | null }>(
        `select chain_hash from agent_onboarding_markers where org_id = $1 and agent_id = $2`,
        [orgId, agentId],
      );
      return row?.chain_hash === chainHash ? 'onboarded' : 'not_onboarded';
    } catch (error) {
      this.log.warn(`whether agent ${agentId} is onboarded could not be looked up: ${String(error)}`);
      return 'unknown';
    }
  }

  /** Marks the agent onboarded for the place, and ends the pass under way; joins the running transaction. */
  async mark(
    { orgId, agentId }: AgentKey,
    mark: { chainHash: string; summary: string; turnId: string },
  ): Promise<void> {
    await this.database.query(
      `insert into agent_onboarding_markers
         (org_id, agent_id, chain_hash, summary, onboarded_at, source_turn_ids, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6::jsonb, $5, $5)
       on conflict (org_id, agent_id) do update set chain_hash = excluded.chain_hash, summary = excluded.summary,
         onboarded_at = excluded.onboarded_at, source_turn_ids = excluded.source_turn_ids,
         updated_at = excluded.updated_at, lease_id = null, lease_until = null`,
      [orgId, agentId, mark.chainHash, mark.summary, new Date(), JSON.stringify([mark.turnId])],
    );
  }

  /** A lease on the agent's onboarding, or the end of the one that somebody holds. Of two at once, one gets it. */
  async lease({ orgId, agentId }: AgentKey): Promise<OnboardingLease | { heldUntil: Date | null }> {
    const now = new Date();
    const expiresAt = new Date(now.getTime() + LEASE_SECONDS * 1000);
    const [row] = await this.database.query<LeaseRow>(
      `insert into agent_onboarding_markers as marker
         (org_id, agent_id, lease_id, lease_until, source_turn_ids, created_at, updated_at)
       values ($1, $2, $3, $4, '[]', $5, $5)
       on conflict (org_id, agent_id) do update set lease_id = excluded.lease_id, lease_until = excluded.lease_until,
         updated_at = excluded.updated_at
         where marker.lease_until is null or marker.lease_until <= $5
       returning lease_id, lease_until, chain_hash`,
      [orgId, agentId, randomUUID(), expiresAt, now],
    );
    if (row) return { leaseId: row.lease_id, expiresAt: row.lease_until, chainHash: row.chain_hash };
    const [held] = await this.database.query<{ lease_until: Date | null }>(
      `select lease_until from agent_onboarding_markers where org_id = $1 and agent_id = $2`,
      [orgId, agentId],
    );
    return { heldUntil: held?.lease_until ?? null };
  }

  /** Ends the lease, where `leaseId` is given only that one; nothing where there is none. */
  async release({ orgId, agentId }: AgentKey, leaseId: string | null): Promise<void> {
    await this.database.query(
      `update agent_onboarding_markers set lease_id = null, lease_until = null, updated_at = $4
       where org_id = $1 and agent_id = $2 and lease_id is not null and ($3::uuid is null or lease_id = $3)`,
      [orgId, agentId, leaseId, new Date()],
    );
  }
}
