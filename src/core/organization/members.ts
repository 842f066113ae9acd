import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

export interface MemberIdentity {
  platform: string;
  external_id: string;
}

/** One who belongs to the organisation, as its document says. */
export type Member =
  | { kind: 'agent'; id: string; handle: string; role: string; unit: string | null; leads: string[] }
  | {
      kind: 'person';
      handle: string;
      displayName: string | null;
      identities: MemberIdentity[];
      leads: string[];
    };

/** The active agents and the people of an organisation: what everybody in it may know of each other. */
@Injectable()
export class Members {
  constructor(private readonly database: Database) {}

  /** By handle, agents first. */
  async all(orgId: string): Promise<Member[]> {
    const leads = `(select coalesce(jsonb_agg(units.name order by units.name), '[]') from units
      where units.org_id = $1 and units.lead = member.handle) as leads`;
    const agents = await this.database.query<Omit<Member & { kind: 'agent' }, 'kind'>>(
      `select id, handle, role, unit, ${leads} from agents member where org_id = $1 and active order by handle`,
      [orgId],
    );
    const people = await this.database.query<Omit<Member & { kind: 'person' }, 'kind'>>(
      `select handle, display_name as "displayName", identities, ${leads} from people member
       where org_id = $1 order by handle`,
      [orgId],
    );
    return [
      ...agents.map((agent) => ({ kind: 'agent' as const, ...agent })),
      ...people.map((person) => ({ kind: 'person' as const, ...person })),
    ];
  }
}
