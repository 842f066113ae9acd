import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { homeOrganizationName } from '../../platform/auth/authenticator.js';
import { agentId, organizationId } from '../../platform/auth/name-based-ids.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { OrganizationDocument, readOrganizationDocument, type CredentialsDocument } from './organization.document.js';

export interface Organization {
  id: string;
  name: string;
  autoRegister: boolean;
  dailyTokenBudget: number | null;
  knowledge: { confluence_spaces: string[]; plane_projects: string[] };
}

interface OrganizationRow {
  id: string;
  name: string;
  auto_register: boolean;
  daily_token_budget: string | null;
  knowledge: Organization['knowledge'];
}

/** Organisations and their documents. The home organisation comes to be when it is first needed. */
@Injectable()
export class Organizations implements OnApplicationBootstrap {
  private readonly homeId: string;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {
    this.homeId = organizationId(homeOrganizationName(settings));
  }

  /** The organisation of learning.yaml is there before the first request. */
  async onApplicationBootstrap(): Promise<void> {
    await this.get(this.homeId);
  }

  async get(id: string): Promise<Organization> {
    const found = await this.find(id);
    if (found) return found;
    if (id !== this.homeId) throw new ApiError(404, 'organization.not_found', 'There is no such organisation.');
    const seed = readOrganizationDocument(this.settings.organization ?? { name: 'default' });
    if (!seed.document) throw invalidRequest(seed.problems);
    await this.seed(id, seed.document);
    return (await this.find(id))!;
  }

  /** The organisation of that name, made if there is none. */
  async ensureNamed(name: string): Promise<Organization> {
    const [row] = await this.database.query<{ id: string }>(`select id from organizations where name = $1`, [name]);
    if (row) return this.get(row.id);
    const id = organizationId(name);
    if (!(await this.find(id))) {
      const document = Object.assign(new OrganizationDocument(), { name });
      await this.seed(id, document);
    }
    return this.get(id);
  }

  /** The document as it stands: `PUT` of what this answers changes nothing. */
  async document(id: string): Promise<OrganizationDocument> {
    const organization = await this.get(id);
    const [roles, units, agents, people] = [
      await this.database.query<OrganizationDocument['roles'][number]>(
        `select name, learning_enabled, llm, llm_auxiliary, max_concurrent from roles where org_id = $1 order by name`,
        [id],
      ),
      await this.database.query<OrganizationDocument['units'][number]>(
        `select name, parent, lead, confluence_space, plane_project from units where org_id = $1 order by name`,
        [id],
      ),
      await this.database.query<{
        handle: string;
        role: string;
        unit: string | null;
        daily_token_budget: string | null;
        credentials: CredentialsDocument;
      }>(
        `select handle, role, unit, daily_token_budget, credentials from agents where org_id = $1 and active order by handle`,
        [id],
      ),
      await this.database.query<OrganizationDocument['people'][number]>(
        `select handle, display_name, identities from people where org_id = $1 order by handle`,
        [id],
      ),
    ];
    return {
      name: organization.name,
      auto_register: organization.autoRegister,
      daily_token_budget: organization.dailyTokenBudget,
      knowledge: organization.knowledge,
      roles,
      units,
      agents: agents.map((agent) => ({ ...agent, daily_token_budget: numberOrNull(agent.daily_token_budget) })),
      people,
    };
  }

  /** Replaces the whole document. Memories stay: an agent that is no longer listed becomes inactive. */
  async replace(id: string, document: OrganizationDocument): Promise<OrganizationDocument> {
    await this.get(id);
    this.refuseForeignSecrets(id, document);
    return this.database.transaction(async () => {
      await this.lockNames();
      await this.refuseTakenName(id, document.name);
      await this.database.query(
        `update organizations set name = $2, auto_register = $3, daily_token_budget = $4, knowledge = $5::jsonb,
           updated_at = $6 where id = $1`,
        [
          id,
          document.name,
          document.auto_register,
          document.daily_token_budget,
          JSON.stringify(document.knowledge),
          new Date(),
        ],
      );
      await this.writeMembers(id, document);
      return this.document(id);
    });
  }

  private async find(id: string): Promise<Organization | null> {
    const [row] = await this.database.query<OrganizationRow>(`select * from organizations where id = $1`, [id]);
    if (!row) return null;
    return {
      id: row.id,
      name: row.name,
      autoRegister: row.auto_register,
      dailyTokenBudget: numberOrNull(row.daily_token_budget),
      knowledge: row.knowledge,
    };
  }

  private async seed(id: string, document: OrganizationDocument): Promise<void> {
    this.refuseForeignSecrets(id, document);
    await this.database.transaction(async () => {
      await this.lockNames();
      const now = new Date();
      const made = await this.database.query(
        `insert into organizations (id, name, auto_register, daily_token_budget, knowledge, created_at, updated_at)
         values ($1, $2, $3, $4, $5::jsonb, $6, $6) on conflict do nothing returning id`,
        [
          id,
          document.name,
          document.auto_register,
          document.daily_token_budget,
          JSON.stringify(document.knowledge),
          now,
        ],
      );
      if (made.length > 0) await this.writeMembers(id, document);
    });
  }

  /** Until the end of the transaction nobody else takes a name. */
  private async lockNames(): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('organization names', 0))`);
  }

  /** A name is also taken by the organisation whose id was made of it, whatever that is named by now. */
  private async refuseTakenName(id: string, name: string): Promise<void> {
    const owner = organizationId(name);
    const [taken] = await this.database.query(`select 1 from organizations where (name = $1 or id = $2) and id <> $3`, [
      name,
      owner,
      id,
    ]);
    if (taken || (owner === this.homeId && id !== this.homeId)) {
      throw new ApiError(409, 'organization.name_taken', `The name "${name}" is another organisation's.`);
    }
  }

  private async writeMembers(id: string, document: OrganizationDocument): Promise<void> {
    for (const table of ['roles', 'units', 'people']) {
      await this.database.query(`delete from ${table} where org_id = $1`, [id]);
    }
    // A turn may register its role meanwhile; what the document says of it holds.
    await this.database.query(
      `insert into roles (org_id, name, learning_enabled, llm, llm_auxiliary, max_concurrent)
       select $1, name, learning_enabled, llm, llm_auxiliary, max_concurrent from jsonb_to_recordset($2::jsonb)
         as role(name text, learning_enabled boolean, llm jsonb, llm_auxiliary jsonb, max_concurrent integer)
       on conflict (org_id, name) do update set learning_enabled = excluded.learning_enabled, llm = excluded.llm,
         llm_auxiliary = excluded.llm_auxiliary, max_concurrent = excluded.max_concurrent`,
      [id, JSON.stringify(document.roles)],
    );
    await this.database.query(
      `insert into units (org_id, name, parent, lead, confluence_space, plane_project)
       select $1, name, parent, lead, confluence_space, plane_project from jsonb_to_recordset($2::jsonb)
         as unit(name text, parent text, lead text, confluence_space text, plane_project text)`,
      [id, JSON.stringify(document.units)],
    );
    await this.database.query(
      `insert into people (org_id, handle, display_name, identities)
       select $1, handle, display_name, identities from jsonb_to_recordset($2::jsonb)
         as person(handle text, display_name text, identities jsonb)`,
      [id, JSON.stringify(document.people)],
    );
    const agents = document.agents.map((agent) => ({
      ...agent,
      id: agentId(id, agent.handle),
      credentials: agent.credentials ?? {},
    }));
    await this.database.query(`update agents set active = false where org_id = $1`, [id]);
    await this.database.query(
      `insert into agents (id, org_id, handle, role, unit, active, daily_token_budget, credentials, created_at)
       select id, $1, handle, role, unit, true, daily_token_budget, credentials, $3 from jsonb_to_recordset($2::jsonb)
         as agent(id uuid, handle text, role text, unit text, daily_token_budget bigint, credentials jsonb)
       on conflict (id) do update set role = excluded.role, unit = excluded.unit, active = true,
         daily_token_budget = excluded.daily_token_budget, credentials = excluded.credentials`,
      [id, JSON.stringify(agents), new Date()],
    );
  }

  /** By the name that the id was made of: an organisation that takes another's name does not get its secrets. */
  private refuseForeignSecrets(id: string, document: OrganizationDocument): void {
    const allowed = this.settings.organizationSecretNames((name) => organizationId(name) === id);
    const problems = document.agents.flatMap((agent, index) =>
      Object.entries(agent.credentials ?? {}).flatMap(([backend, names]) =>
        Object.entries((names ?? {}) as Record<string, string | undefined>)
          .filter(([, name]) => name !== undefined && !allowed.has(name))
          .map(([field, name]) => ({
            path: `agents.${index}.credentials.${backend}.${field}`,
            message: `learning.yaml does not list ${name} under secret_env for this organisation`,
          })),
      ),
    );
    if (problems.length > 0) throw invalidRequest(problems);
  }
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : Number(text);
}
