import { Injectable } from '@nestjs/common';
import type { CredentialsDocument } from '../../core/organization/organization.document.js';
import { LIVE_SKILL } from '../../memories/skills/skill.models.js';
import { Database } from '../../platform/database/database.js';
import type { PromotionUnit, SiblingSkill } from './promotion.models.js';

interface UnitRow {
  lead: string | null;
  confluence_space: string | null;
  plane_project: string | null;
  lead_credentials: CredentialsDocument | null;
}

/** The units of organisations, and what the agents declared directly in them have learned. */
@Injectable()
export class PromotionUnits {
  constructor(private readonly database: Database) {}

  /**
   * Units in which enough active agents have a live skill, or in which a draft waits for its page; of one organisation,
   * or of all where `orgId` is null.
   */
  withWork(orgId: string | null, minAgents: number): Promise<{ orgId: string; unit: string }[]> {
    return this.database.query<{ orgId: string; unit: string }>(
      `select units.org_id as "orgId", units.name as unit from units
       where ($1::uuid is null or units.org_id = $1) and (
         exists (select 1 from promotions where org_id = units.org_id and unit = units.name and state = 'drafted')
         or (select count(distinct agents.id) from agents
             join synthesized_skills skill on skill.org_id = agents.org_id and skill.agent_id = agents.id
             where agents.org_id = units.org_id and agents.unit = units.name and agents.active
               and skill.${LIVE_SKILL} and jsonb_array_length(skill.tool_sequence) > 0) >= $2)
       order by units.org_id, units.name`,
      [orgId, minAgents],
    );
  }

  /** Null where it is gone. */
  async find(orgId: string, name: string): Promise<PromotionUnit | null> {
    const [row] = await this.database.query<UnitRow>(
      `select units.lead, units.confluence_space, units.plane_project, agents.credentials as lead_credentials
       from units left join agents on agents.org_id = units.org_id and agents.handle = units.lead and agents.active
       where units.org_id = $1 and units.name = $2`,
      [orgId, name],
    );
    if (!row) return null;
    const { lead, confluence_space: confluenceSpace, plane_project: planeProject } = row;
    return { orgId, name, lead, confluenceSpace, planeProject, leadCredentials: row.lead_credentials ?? {} };
  }

  /** The handles of the agents on whose account the model may be asked: the unit's lead, then its members. */
  async authors({ orgId, name, lead }: PromotionUnit): Promise<string[]> {
    const rows = await this.database.query<{ handle: string }>(
      `select handle from agents where org_id = $1 and active and (unit = $2 or handle = $3)
       order by (handle = $3) is true desc, handle collate "C"`,
      [orgId, name, lead],
    );
    return rows.map(({ handle }) => handle);
  }

  /** All that the unit's active members have learned with tools, whatever became of it. Units below it have their own. */
  skills({ orgId, name }: PromotionUnit): Promise<SiblingSkill[]> {
    return this.database.query<SiblingSkill>(
      `select skill.id, skill.agent_id as "agentId", agents.handle as "agentHandle", skill.name, skill.description,
         skill.content, skill.tool_sequence as "toolSequence", skill.source_turn_ids as "sourceTurnIds",
         skill.${LIVE_SKILL} as live, skill.operator_released as "operatorReleased"
       from agents join synthesized_skills skill on skill.org_id = agents.org_id and skill.agent_id = agents.id
       where agents.org_id = $1 and agents.unit = $2 and agents.active and jsonb_array_length(skill.tool_sequence) > 0
       order by skill.id`,
      [orgId, name],
    );
  }
}
