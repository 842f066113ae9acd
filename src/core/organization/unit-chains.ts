import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** Where an agent stands in its organisation. */
export interface UnitChain {
  /** Name of the organisation. */
  organization: string;
  /** Names of the agent's units, the outermost first; empty where it is in none. */
  units: string[];
  role: string;
}

interface ChainRow {
  organization: string;
  role: string;
  units: string[];
}

/** The way from the organisation through its units to one agent, as the organisation document has it now. */
@Injectable()
export class UnitChains {
  constructor(private readonly database: Database) {}

  /** Joins the running transaction; null where there is no such agent. */
  async of(orgId: string, agentId: string): Promise<UnitChain | null> {
    const [row] = await this.database.query<ChainRow>(
      `with recursive agent as (
         select organizations.name as organization, agents.role, agents.unit
         from agents join organizations on organizations.id = agents.org_id
         where agents.org_id = $1 and agents.id = $2),
       chain as (
         select units.name, units.parent, 0 as height
         from agent join units on units.org_id = $1 and units.name = agent.unit
         union all
         select units.name, units.parent, chain.height + 1
         from chain join units on units.org_id = $1 and units.name = chain.parent)
       select organization, role,
         (select coalesce(jsonb_agg(name order by height desc), '[]'::jsonb) from chain) as units
       from agent`,
      [orgId, agentId],
    );
    return row ?? null;
  }
}
