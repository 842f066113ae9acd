import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { CredentialsDocument } from '../../core/organization/organization.document.js';
import { homeOrganizationName } from '../../platform/auth/authenticator.js';
import { organizationId } from '../../platform/auth/name-based-ids.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { ConfluenceClient, type ConfluenceCredentials } from './confluence.client.js';
import { PlaneClient } from './plane.client.js';
import { hangBreaker, type VendorHttpOptions } from './vendor-http.js';

/** Who asks: an agent of an organisation, by the names of its own credentials. */
export interface Asker {
  orgId: string;
  credentials: CredentialsDocument;
}

/** A client, and whether it acts with the agent's own credentials. */
export interface ClientOf<Client> {
  client: Client;
  own: boolean;
}

/**
 * The clients of the knowledge base, one for each set of credentials: an agent's own, else those of the environment. The
 * latter serve the organisation of learning.yaml alone, since another's document could otherwise name that one's spaces.
 */
@Injectable()
export class KnowledgeClients {
  private readonly known = new Map<string, ConfluenceClient | PlaneClient>();
  private readonly breakers = { confluence: hangBreaker(), plane: hangBreaker() };
  private readonly homeId: string;

  constructor(
    private readonly settings: Settings,
    private readonly database: Database,
  ) {
    this.homeId = organizationId(homeOrganizationName(settings));
  }

  /** With the credentials of the environment; null where it has none. */
  get confluence(): ConfluenceClient | null {
    const { confluence_username: username, confluence_api_token: apiToken } = this.settings.environment;
    const { confluence_personal_token: personalToken } = this.settings.environment;
    return this.confluenceWith(confluenceCredentials({ username, apiToken, personalToken }));
  }

  /** With the key of the environment; null where it has none. */
  get plane(): PlaneClient | null {
    return this.planeWith(this.settings.environment.plane_api_key);
  }

  confluenceOf(asker: Asker): ClientOf<ConfluenceClient> | null {
    const names = asker.credentials.confluence;
    const own = this.confluenceWith(
      confluenceCredentials({
        username: this.secret(asker.orgId, names?.username_env),
        apiToken: this.secret(asker.orgId, names?.api_token_env),
        personalToken: this.secret(asker.orgId, names?.personal_token_env),
      }),
    );
    return this.ownOrShared(asker.orgId, own, this.confluence);
  }

  planeOf(asker: Asker): ClientOf<PlaneClient> | null {
    const own = this.planeWith(this.secret(asker.orgId, asker.credentials.plane?.api_key_env));
    return this.ownOrShared(asker.orgId, own, this.plane);
  }

  private ownOrShared<Client>(orgId: string, own: Client | null, shared: Client | null): ClientOf<Client> | null {
    if (own) return { client: own, own: true };
    return shared && orgId === this.homeId ? { client: shared, own: false } : null;
  }

  private secret(orgId: string, envName: string | null | undefined): string | undefined {
    if (!envName) return undefined;
    return this.settings.organizationSecret((name) => organizationId(name) === orgId, envName);
  }

  private confluenceWith(credentials: ConfluenceCredentials | null): ConfluenceClient | null {
    const baseUrl = this.settings.environment.confluence_base_url;
    if (!credentials || baseUrl === undefined) return null;
    return this.once(['confluence', ...Object.values(credentials)], () => {
      return new ConfluenceClient({ ...this.shared('confluence'), baseUrl, credentials });
    });
  }

  private planeWith(apiKey: string | undefined): PlaneClient | null {
    const { plane_base_url: baseUrl, plane_workspace: workspace } = this.settings.environment;
    if (apiKey === undefined || baseUrl === undefined || workspace === undefined) return null;
    return this.once(['plane', apiKey], () => {
      return new PlaneClient({ ...this.shared('plane'), baseUrl, workspace, apiKey });
    });
  }

  private once<Client extends ConfluenceClient | PlaneClient>(parts: string[], make: () => Client): Client {
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    const client = (this.known.get(key) as Client | undefined) ?? make();
    this.known.set(key, client);
    return client;
  }

  private shared(vendor: 'confluence' | 'plane'): Pick<VendorHttpOptions, 'timeoutMs' | 'breaker' | 'beforeCall'> {
    return {
      timeoutMs: this.settings.knowledge.timeout_seconds * 1_000,
      breaker: this.breakers[vendor],
      beforeCall: () => this.database.assertNoTransaction('a call of the knowledge base'),
    };
  }
}

function confluenceCredentials(given: {
  username?: string;
  apiToken?: string;
  personalToken?: string;
}): ConfluenceCredentials | null {
  const { username, apiToken, personalToken } = given;
  if (username !== undefined && apiToken !== undefined) return { username, apiToken };
  return personalToken === undefined ? null : { personalToken };
}
