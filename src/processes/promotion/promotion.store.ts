import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import './promotion.events.js';
import { identityOf } from './promotion-memory.js';
import {
  distinctAgents,
  type KnownPromotion,
  type PromotionState,
  type SkillCluster,
  type StoredDraft,
} from './promotion.models.js';

export interface PromotionVerdict {
  orgId: string;
  unit: string;
  cluster: SkillCluster;
  /** Of the agent on whose account the model was asked. */
  role: string;
  state: Exclude<PromotionState, 'published'>;
  reason: string | null;
  /** Null where the state is `refused`. */
  draft: { id: string; name: string; content: string } | null;
}

export interface WrittenPage {
  backend: string;
  containerKey: string;
  pageId: string;
  pageTitle: string;
}

/** The memory of promotion: which clusters were looked at, their drafts, and the pages that these became (`promotions`). */
@Injectable()
export class PromotionStore {
  constructor(
    private readonly database: Database,
    private readonly events: EventBus,
  ) {}

  /** What was decided on the clusters of a unit, and on those of units that are gone: one of them may be its former name. */
  async known(orgId: string, unit: string): Promise<KnownPromotion[]> {
    const rows = await this.database.query<{ id: string; state: PromotionState; member_skill_ids: string[] }>(
      `select id, state, member_skill_ids from promotions
       where org_id = $1 and (unit = $2 or not exists (
         select 1 from units where units.org_id = promotions.org_id and units.name = promotions.unit))
       order by created_at, id`,
      [orgId, unit],
    );
    return rows.map(({ id, state, member_skill_ids: memberSkillIds }) => ({ id, state, memberSkillIds }));
  }

  /**
   * Keeps a verdict on a cluster and lets go the refusals before it. False, with nothing written, where somebody else has
   * decided on the cluster meanwhile, or the unit is gone. Joins the running transaction.
   */
  async record({ orgId, unit, cluster, role, state, reason, draft }: PromotionVerdict): Promise<boolean> {
    return this.database.transaction(async () => {
      // Two that judge one cluster meet here, and the second sees what the first has decided.
      const held = await this.database.query(`select 1 from units where org_id = $1 and name = $2 for update`, [
        orgId,
        unit,
      ]);
      const identity = identityOf(cluster, await this.known(orgId, unit));
      if (held.length === 0 || identity.status !== 'new') return false;
      const refusals = identity.replaces.map(({ id }) => id);
      await this.database.query(`delete from promotions where org_id = $1 and id = any($2::uuid[])`, [orgId, refusals]);
      const judged = identity.replaces.flatMap(({ memberSkillIds }) => memberSkillIds);
      const members = new Set([...judged, ...cluster.members.map(({ id }) => id)]);
      await this.database.query(
        `insert into promotions (id, org_id, unit, member_skill_ids, source_turn_ids, sibling_count, distinct_agents,
           role, state, reason, name, content, attempts, created_at, updated_at)
         values ($1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, 0, $13, $13)`,
        [
          draft?.id ?? randomUUID(),
          orgId,
          unit,
          JSON.stringify([...members]),
          JSON.stringify([...new Set(cluster.members.flatMap(({ sourceTurnIds }) => sourceTurnIds))]),
          cluster.members.length,
          distinctAgents(cluster.members),
          role,
          state,
          reason,
          draft?.name ?? null,
          draft?.content ?? null,
          new Date(),
        ],
      );
      return true;
    });
  }

  /** Makes further skills members of a cluster that has its draft, and the unit its own where it was renamed. */
  async join(
    promotions: readonly KnownPromotion[],
    { orgId, name }: { orgId: string; name: string },
    skillIds: readonly string[],
  ): Promise<void> {
    await this.database.query(
      `update promotions set unit = $3, updated_at = $5, member_skill_ids =
         (select jsonb_agg(distinct member.id) from jsonb_array_elements(member_skill_ids || $4::jsonb) member(id))
       where org_id = $1 and id = any($2::uuid[]) and (unit <> $3 or not member_skill_ids @> $4::jsonb)`,
      [orgId, promotions.map(({ id }) => id), name, JSON.stringify(skillIds), new Date()],
    );
  }

  /** The drafts of a unit that wait for their pages, the oldest first. */
  async waiting(orgId: string, unit: string): Promise<StoredDraft[]> {
    return this.database.query<StoredDraft>(
      `select id, org_id as "orgId", unit, name, content from promotions
       where org_id = $1 and unit = $2 and state = 'drafted' order by created_at, id`,
      [orgId, unit],
    );
  }

  /** The page stands: `skill.promoted` leaves with the commit, once however many have found or written it. */
  async publish({ id, orgId }: StoredDraft, page: WrittenPage): Promise<void> {
    await this.database.transaction(async () => {
      const [row] = await this.database.query<{
        unit: string;
        role: string;
        name: string;
        sibling_count: number;
        distinct_agents: number;
      }>(
        `update promotions set state = 'published', backend = $3, container_key = $4, page_id = $5, page_title = $6,
           last_error = null, published_at = $7, updated_at = $7
         where org_id = $1 and id = $2 and state = 'drafted'
         returning unit, role, name, sibling_count, distinct_agents`,
        [orgId, id, page.backend, page.containerKey, page.pageId, page.pageTitle, new Date()],
      );
      if (!row) return;
      this.events.publish('skill.promoted', {
        org_id: orgId,
        agent_id: null,
        agent_handle: null,
        role: row.role,
        turn_id: null,
        trace_id: null,
        span_id: null,
        payload: {
          role: row.role,
          unit_id: row.unit,
          skill_name: row.name,
          page_id: page.pageId,
          page_title: page.pageTitle,
          container_key: page.containerKey,
          sibling_count: row.sibling_count,
          distinct_agents: row.distinct_agents,
        },
      });
    });
  }

  /** Remembers why a page could not be written. */
  async failed({ id, orgId }: StoredDraft, error: string): Promise<void> {
    await this.database.query(
      `update promotions set attempts = attempts + 1, last_error = $3, updated_at = $4
       where org_id = $1 and id = $2 and state = 'drafted'`,
      [orgId, id, error, new Date()],
    );
  }

  /** An operator lets a held draft be written. Null where it is not held any more. */
  async release(orgId: string, id: string): Promise<{ unit: string } | null> {
    const [row] = await this.database.query<{ unit: string }>(
      `update promotions set state = 'drafted', updated_at = $3
       where org_id = $1 and id = $2 and state = 'quarantined' returning unit`,
      [orgId, id, new Date()],
    );
    return row ?? null;
  }
}
