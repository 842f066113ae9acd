import { Injectable } from '@nestjs/common';
import { agentId } from '../../platform/auth/name-based-ids.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import { isUuid, type Page, type PageRequest } from '../../platform/http/page.js';
import { isHandle } from './handle.js';
import type { CredentialsDocument } from './organization.document.js';
import { Organizations } from './organizations.js';

export interface Agent {
  id: string;
  orgId: string;
  handle: string;
  role: string;
  unit: string | null;
  active: boolean;
  dailyTokenBudget: number | null;
}

export interface Role {
  name: string;
  learningEnabled: boolean | null;
  llm: string[];
  llmAuxiliary: string[];
  maxConcurrent: number | null;
}

export interface AgentView {
  id: string;
  handle: string;
  role: string;
  unit: string | null;
  active: boolean;
  last_turn_at: string | null;
}

interface AgentRow {
  id: string;
  org_id: string;
  handle: string;
  role: string;
  unit: string | null;
  active: boolean;
  daily_token_budget: string | null;
  last_turn_at: Date | null;
  created_at: Date;
}

interface RoleRow {
  name: string;
  learning_enabled: boolean | null;
  llm: string[];
  llm_auxiliary: string[];
  max_concurrent: number | null;
}

/** The agents of an organisation and the roles that they fill. */
@Injectable()
export class Agents {
  constructor(
    private readonly database: Database,
    private readonly organizations: Organizations,
  ) {}

  /** By id or handle; 404 `agent.not_found`. */
  async get(orgId: string, idOrHandle: string): Promise<Agent> {
    const agent = await this.find(orgId, idOrHandle);
    if (!agent) throw new ApiError(404, 'agent.not_found', 'There is no such agent.');
    return agent;
  }

  /** What `read` answers about the agent. One that is named by its id is looked up meanwhile; 404 as from `get`. */
  async beside<Answer>(orgId: string, idOrHandle: string, read: (agentId: string) => Promise<Answer>): Promise<Answer> {
    const agent = this.get(orgId, idOrHandle);
    const reading = read(isUuid(idOrHandle) ? idOrHandle : (await agent).id);
    const [answer] = await Promise.all([reading, agent]);
    return answer;
  }

  async find(orgId: string, idOrHandle: string): Promise<Agent | null> {
    const column = isUuid(idOrHandle) ? 'id' : 'handle';
    const [row] = await this.database.query<AgentRow>(`select * from agents where org_id = $1 and ${column} = $2`, [
      orgId,
      idOrHandle,
    ]);
    return row ? agentOf(row) : null;
  }

  /**
   * The agent that a turn or a plan context is of. An unknown or inactive one is registered, and its role with it, unless the
   * organisation's `auto_register` is false (404). A known agent keeps its registered role.
   */
  async ensure(orgId: string, agent: { handle: string; role: string | null }): Promise<Agent> {
    const known = await this.find(orgId, agent.handle);
    return known?.active ? known : this.register(orgId, agent, known);
  }

  /** As `ensure`, but an inactive agent stays inactive: only a turn brings it back. */
  async ensureKnown(orgId: string, agent: { handle: string; role: string | null }): Promise<Agent> {
    return (await this.find(orgId, agent.handle)) ?? this.register(orgId, agent, null);
  }

  /** The names of the environment variables that hold the own credentials of an active agent, by backend. */
  async credentials(orgId: string, id: string): Promise<CredentialsDocument> {
    const [row] = await this.database.query<{ credentials: CredentialsDocument | null }>(
      `select credentials from agents where org_id = $1 and id = $2 and active`,
      [orgId, id],
    );
    return row?.credentials ?? {};
  }

  /** The handles of the agents among `ids`. */
  async handles(orgId: string, ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; handle: string }>(
      `select id, handle from agents where org_id = $1 and id = any($2::uuid[])`,
      [orgId, ids],
    );
    return new Map(rows.map(({ id, handle }) => [id, handle]));
  }

  /**
   * Keeps the latest of the times. Holds the agent's row until the running transaction ends, so that what is counted after
   * it counts the writes of all who came before.
   */
  async touch(agent: { orgId: string; id: string }, lastTurnAt: Date): Promise<void> {
    await this.database.query(
      `update agents set last_turn_at = greatest(last_turn_at, $3::timestamptz) where org_id = $1 and id = $2`,
      [agent.orgId, agent.id, lastTurnAt],
    );
  }

  /** Whether a turn may bring an agent and a role that the organisation does not know. */
  async mayRegister(orgId: string): Promise<boolean> {
    return (await this.organizations.get(orgId)).autoRegister;
  }

  async role(orgId: string, name: string): Promise<Role | null> {
    const [row] = await this.database.query<RoleRow>(`select * from roles where org_id = $1 and name = $2`, [
      orgId,
      name,
    ]);
    return row
      ? {
          name: row.name,
          learningEnabled: row.learning_enabled,
          llm: row.llm,
          llmAuxiliary: row.llm_auxiliary,
          maxConcurrent: row.max_concurrent,
        }
      : null;
  }

  /** Newest first. */
  list(orgId: string, request: PageRequest & { role?: string; unit?: string }): Promise<Page<AgentView>> {
    return keysetList<AgentRow, AgentView>(this.database, {
      columns: '*',
      from: 'agents',
      filter: 'org_id = $1 and ($2::text is null or role = $2) and ($3::text is null or unit = $3)',
      parameters: [orgId, request.role ?? null, request.unit ?? null],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view: (row) => ({
        id: row.id,
        handle: row.handle,
        role: row.role,
        unit: row.unit,
        active: row.active,
        last_turn_at: row.last_turn_at?.toISOString() ?? null,
      }),
    });
  }

  private async register(
    orgId: string,
    agent: { handle: string; role: string | null },
    known: Agent | null,
  ): Promise<Agent> {
    const organization = await this.organizations.get(orgId);
    if (known && !organization.autoRegister) {
      throw new ApiError(404, 'agent.not_found', 'This agent is no longer listed in its organisation.');
    }
    const role = known?.role ?? agent.role;
    const handle = known?.handle ?? agent.handle;
    if (role === null || !isHandle(handle) || !organization.autoRegister) {
      throw new ApiError(404, 'agent.not_found', 'There is no such agent.');
    }
    return this.database.transaction(async () => {
      await this.database.query(
        `insert into roles (org_id, name, learning_enabled, llm, llm_auxiliary, max_concurrent)
         values ($1, $2, null, '[]', '[]', null) on conflict do nothing`,
        [orgId, role],
      );
      // No lock on a row that is there: intake goes on to locks that others hold while they want the agent's row.
      await this.database.query(
        `insert into agents (id, org_id, handle, role, active, credentials, created_at)
         values ($1, $2, $3, $4, true, '{}', $5) on conflict do nothing`,
        [agentId(orgId, handle), orgId, handle, role, new Date()],
      );
      await this.database.query(`update agents set active = true where org_id = $1 and handle = $2 and not active`, [
        orgId,
        handle,
      ]);
      return (await this.find(orgId, handle))!;
    });
  }
}

function agentOf(row: AgentRow): Agent {
  return {
    id: row.id,
    orgId: row.org_id,
    handle: row.handle,
    role: row.role,
    unit: row.unit,
    active: row.active,
    dailyTokenBudget: row.daily_token_budget === null ? null : Number(row.daily_token_budget),
  };
}
