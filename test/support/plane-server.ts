import { randomUUID } from 'node:crypto';
import { pageText } from '../../src/memories/knowledge/page-text.js';
import type { LoopbackReply } from './loopback-server.js';
import { VendorServer, type VendorRequestSeen } from './vendor-server.js';

export interface StoredProject {
  id: string;
  identifier: string;
  /** API keys of its members. */
  members: string[];
}

export interface StoredPlanePage {
  id: string;
  projectId: string;
  name: string;
  html: string;
  parentId: string | null;
  externalId: string | null;
  externalSource: string | null;
  /** The API key of its owner. */
  owner: string;
  /** 0 public, 1 private to its owner. */
  access: 0 | 1;
  archived: boolean;
  updatedAt: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const FIELDS = ['id', 'name', 'description_html', 'access', 'external_id', 'external_source', 'parent', 'owned_by'];
const MOST_WORDS = 16;

/**
 * A Plane over the part of its API that the service uses, as the vendor and the fork document it:
 *
 * - key, status codes, cursors, `fields`: https://developers.plane.so/api-reference/introduction
 * - pages (list, retrieve, create; 409 on an external id and source that the project has already):
 *   https://developers.plane.so/api-reference/page/list-project-pages, https://github.com/makeplane/plane/pull/9470
 * - page search, words joined by AND, at most 16 distinct ones, only projects that the caller is a member of:
 *   https://github.com/makeplane/plane/pull/9469
 * - 429 and `Retry-After`: https://www.django-rest-framework.org/api-guide/throttling/
 */
export class PlaneServer extends VendorServer {
  readonly projects: StoredProject[] = [];
  readonly pages: StoredPlanePage[] = [];
  private readonly keys = new Set<string>();
  private clock = 0;

  private constructor(readonly workspace: string) {
    super();
  }

  static async start(workspace = 'acme'): Promise<PlaneServer> {
    const server = new PlaneServer(workspace);
    await server.listen();
    return server;
  }

  /** What `PLANE_BASE_URL` takes. */
  get url(): string {
    return this.origin;
  }

  addKey(apiKey: string): this {
    this.keys.add(apiKey);
    return this;
  }

  addProject(identifier: string, members: string[]): StoredProject {
    const project = { id: randomUUID(), identifier, members };
    this.projects.push(project);
    for (const key of members) this.keys.add(key);
    return project;
  }

  addPage(page: {
    projectId: string;
    name: string;
    html?: string;
    parentId?: string;
    externalId?: string;
    externalSource?: string;
    owner?: string;
    access?: 0 | 1;
    archived?: boolean;
  }): StoredPlanePage {
    const stored: StoredPlanePage = {
      id: randomUUID(),
      projectId: page.projectId,
      name: page.name,
      html: page.html ?? '',
      parentId: page.parentId ?? null,
      externalId: page.externalId ?? null,
      externalSource: page.externalSource ?? null,
      owner: page.owner ?? 'somebody',
      access: page.access ?? 0,
      archived: page.archived ?? false,
      updatedAt: (this.clock += 1),
    };
    this.pages.push(stored);
    return stored;
  }

  /** Forgets projects, pages, requests and faults; the keys stay. */
  reset(): void {
    this.projects.length = 0;
    this.pages.length = 0;
    this.requests.length = 0;
    this.fail(null);
  }

  /** The queries that were searched for. */
  get searches(): { query: string; projects: string | null }[] {
    return this.requestsTo(/\/pages\/search\/$/).flatMap(({ route, query }) =>
      route.includes('/projects/') ? [] : [{ query: query.get('query') ?? '', projects: query.get('projects') }],
    );
  }

  protected answer(request: VendorRequestSeen): LoopbackReply {
    const { method, route } = request;
    const key = String(request.headers['x-api-key'] ?? '');
    if (!this.keys.has(key)) return { status: 401, body: { detail: 'Given API token is not valid' } };
    // Django sends a reader on to the address with the slash, and refuses a writer.
    if (!route.endsWith('/')) return { status: 301, body: '', headers: { location: `${route}/` } };
    const base = `/api/v1/workspaces/${this.workspace}/`;
    if (!route.startsWith(base)) return { status: 404, body: { error: 'The required object does not exist.' } };
    const path = route.slice(base.length);
    if (method === 'GET' && path === 'projects/') return this.listProjects(request, key);
    if (method === 'GET' && path === 'pages/search/') return this.search(request, key);
    const [, projectId, pageId] = /^projects\/([^/]+)\/pages\/(?:([^/]+)\/)?$/.exec(path) ?? [];
    if (projectId === undefined) return { status: 404, body: { error: 'Page not found.' } };
    const project = this.projects.find(({ id, members }) => id === projectId && members.includes(key));
    if (!project) return { status: 403, body: { detail: 'You do not have permission to perform this action.' } };
    if (method === 'POST' && pageId === undefined) return this.create(request, key, project.id);
    if (method !== 'GET') return { status: 405, body: { detail: `Method "${method}" not allowed.` } };
    if (pageId === undefined) return this.list(request, key, project.id);
    const page = this.pages.find(({ id, projectId: own }) => id === pageId && own === project.id);
    if (!page || !sees(key, page)) return { status: 404, body: { error: 'The requested resource does not exist.' } };
    return { status: 200, body: view(page, FIELDS) };
  }

  private listProjects(request: VendorRequestSeen, key: string): LoopbackReply {
    const own = this.projects.filter(({ members }) => members.includes(key));
    return paged(
      request,
      own.map(({ id, identifier }) => ({ id, identifier, name: identifier })),
    );
  }

  private search(request: VendorRequestSeen, key: string): LoopbackReply {
    const query = (request.query.get('query') ?? '').trim();
    if (query === '') return refused("The 'query' parameter is required to search pages.");
    const words = [...new Set(query.toLowerCase().split(/\s+/))];
    if (words.length > MOST_WORDS) return refused(`A search may hold at most ${MOST_WORDS} distinct words.`);
    const wanted = (request.query.get('projects') ?? '').split(',').filter((id) => id.trim() !== '');
    if (!wanted.every((id) => UUID.test(id.trim()))) {
      return refused("The 'projects' parameter must be a comma-separated list of valid project IDs.");
    }
    const reached = this.projects
      .filter(({ id, members }) => members.includes(key) && (wanted.length === 0 || wanted.includes(id)))
      .map(({ id }) => id);
    const found = this.pages
      .filter((page) => reached.includes(page.projectId) && !page.archived && sees(key, page))
      .map((page) => ({ page, text: pageText(page.html) }))
      .filter(({ page, text }) => words.every((word) => `${page.name}\n${text}`.toLowerCase().includes(word)))
      .sort((one, other) => other.page.updatedAt - one.page.updatedAt)
      .map(({ page, text }) => ({
        id: page.id,
        name: page.name,
        project_id: page.projectId,
        parent_id: page.parentId,
        snippet: text.slice(0, 200),
      }));
    return paged(request, found, 20);
  }

  private list(request: VendorRequestSeen, key: string, projectId: string): LoopbackReply {
    const fields = request.query.get('fields')?.split(',') ?? FIELDS;
    const unknown = fields.filter((field) => !FIELDS.includes(field));
    if (unknown.length > 0) return refused(`Invalid fields: ${unknown.join(', ')}`);
    const search = (request.query.get('search') ?? '').toLowerCase();
    const found = this.pages
      .filter((page) => page.projectId === projectId && !page.archived && sees(key, page))
      .filter(({ name }) => name.toLowerCase().includes(search))
      .reverse();
    return paged(
      request,
      found.map((page) => view(page, fields)),
    );
  }

  private create(request: VendorRequestSeen, key: string, projectId: string): LoopbackReply {
    const body = request.body as Record<string, unknown>;
    const text = (name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined);
    const [name, parentId, externalId, externalSource] = [
      text('name'),
      text('parent'),
      text('external_id'),
      text('external_source'),
    ];
    const own = this.pages.filter((page) => page.projectId === projectId);
    if (parentId !== undefined && !own.some((page) => page.id === parentId && sees(key, page))) {
      return refused('The parent page does not exist in this project');
    }
    const taken = own.find((page) => page.externalId === externalId && page.externalSource === externalSource);
    if (externalId && externalSource && taken) {
      const error = 'Page with the same external id and external source already exists';
      return { status: 409, body: { error, ...(sees(key, taken) ? { id: taken.id } : {}) } };
    }
    const page = this.addPage({
      projectId,
      name: name ?? '',
      html: text('description_html'),
      parentId,
      externalId,
      externalSource,
      owner: key,
      access: body.access === 1 ? 1 : 0,
    });
    return { status: 201, body: view(page, FIELDS) };
  }
}

function sees(key: string, page: StoredPlanePage): boolean {
  return page.access === 0 || page.owner === key;
}

function view(page: StoredPlanePage, fields: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = {
    id: page.id,
    name: page.name,
    description_html: page.html,
    access: page.access,
    external_id: page.externalId,
    external_source: page.externalSource,
    parent: page.parentId,
    owned_by: page.owner,
  };
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}

function paged(request: VendorRequestSeen, rows: object[], usual = 100): LoopbackReply {
  const size = Number(request.query.get('per_page') ?? usual);
  if (!Number.isInteger(size) || size < 1 || size > 100) return refused('Invalid per_page value.');
  const cursor = /^\d+:(\d+):[01]$/.exec(request.query.get('cursor') ?? `${size}:0:0`);
  if (!cursor) return refused('Invalid cursor parameter.');
  const page = Number(cursor[1]);
  const results = rows.slice(page * size, (page + 1) * size);
  return {
    status: 200,
    body: {
      next_cursor: `${size}:${page + 1}:0`,
      prev_cursor: `${size}:${page - 1}:1`,
      next_page_results: (page + 1) * size < rows.length,
      prev_page_results: page > 0,
      count: results.length,
      total_pages: Math.ceil(rows.length / size),
      total_results: rows.length,
      extra_stats: null,
      results,
    },
  };
}

function refused(error: string): LoopbackReply {
  return { status: 400, body: { error } };
}
