import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/**
 * Which episodes a skill carries forward. Their grace counts from `consolidated_at`; once it is over they may go.
 * Joins the running transaction: the marks are there together with the skill, or not at all.
 */
@Injectable()
export class EpisodeConsolidation {
  constructor(private readonly database: Database) {}

  /** Marks those raw episodes that no other skill has. */
  async mark(consolidated: {
    orgId: string;
    agentId: string;
    episodeIds: readonly string[];
    skillId: string;
    at: Date;
  }): Promise<void> {
    if (consolidated.episodeIds.length === 0) return;
    await this.database.query(
      `update episodes set consolidated_into_skill_id = $4, consolidated_at = $5
       where org_id = $1 and agent_id = $2 and id = any($3::uuid[]) and kind = 'raw'
         and consolidated_into_skill_id is null`,
      [consolidated.orgId, consolidated.agentId, consolidated.episodeIds, consolidated.skillId, consolidated.at],
    );
  }

  /** For skills that were erased. */
  async clearErased(orgId: string): Promise<void> {
    await this.database.query(
      `update episodes set consolidated_into_skill_id = null, consolidated_at = null
       where org_id = $1 and consolidated_into_skill_id is not null
         and not exists (select from synthesized_skills where id = consolidated_into_skill_id)`,
      [orgId],
    );
  }

  /** For a skill that is put away: what it no longer carries must not be dropped for its sake. */
  async clear(orgId: string, agentId: string, skillId: string): Promise<void> {
    await this.database.query(
      `update episodes set consolidated_into_skill_id = null, consolidated_at = null
       where org_id = $1 and agent_id = $2 and consolidated_into_skill_id = $3`,
      [orgId, agentId, skillId],
    );
  }
}
