import type { CredentialsDocument } from '../../core/organization/organization.document.js';

/** A unit of an organisation, as far as its drafts are concerned. */
export interface PromotionUnit {
  orgId: string;
  name: string;
  /** Handle. */
  lead: string | null;
  confluenceSpace: string | null;
  planeProject: string | null;
  /** Those of the lead, by the names of environment variables: for an organisation that the service has none for. */
  leadCredentials: CredentialsDocument;
}

/** A skill that a member of the unit has learned. */
export interface SiblingSkill {
  id: string;
  agentId: string;
  agentHandle: string;
  name: string;
  description: string;
  content: string;
  toolSequence: readonly string[];
  sourceTurnIds: readonly string[];
  /** It counts: neither archived nor rejected. */
  live: boolean;
  operatorReleased: boolean;
}

/** Live skills of different members that work alike; in the order of their agents' handles, then of their names. */
export interface SkillCluster {
  members: readonly SiblingSkill[];
  /**
   * Skills of members that are put away and work alike too. They tell which cluster this is, since a skill that is
   * learned anew is another row, and count for nothing else.
   */
  kin: readonly SiblingSkill[];
}

/**
 * `refused`: nothing came of the cluster. `quarantined`: the draft waits for an operator. `drafted`: it waits to be
 * written. `published`: its page stands below the page for drafts, or wherever a person has moved it.
 */
export type PromotionState = 'refused' | 'quarantined' | 'drafted' | 'published';

/** What was decided on a cluster. */
export interface KnownPromotion {
  id: string;
  state: PromotionState;
  memberSkillIds: readonly string[];
}

/** A draft that waits for its page. */
export interface StoredDraft {
  id: string;
  orgId: string;
  unit: string;
  name: string;
  /** Markdown. */
  content: string;
}

export function distinctAgents(members: readonly SiblingSkill[]): number {
  return new Set(members.map(({ agentId }) => agentId)).size;
}
