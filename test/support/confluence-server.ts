import { pageText } from '../../src/memories/knowledge/page-text.js';
import { luceneWords, parseCql, type ParsedCql } from './cql.js';
import type { LoopbackReply } from './loopback-server.js';
import { VendorServer, type VendorRequestSeen } from './vendor-server.js';

export interface ConfluenceUser {
  /** The whole header that the user signs in with. */
  authorization: string;
  /** Spaces that the user may view. */
  views: string[];
  /** Spaces that the user may add pages to. @default those that the user may view */
  writes?: string[];
}

export interface StoredPage {
  id: string;
  space: string;
  title: string;
  /** In the storage format. */
  body: string;
  parentId: string | null;
  /** Authorizations that the page is restricted to; null is no restriction. */
  restrictedTo: string[] | null;
}

/** As Cloud wants it: e-mail address and API token. */
export const basic = (username: string, apiToken: string): string =>
  `Basic ${Buffer.from(`${username}:${apiToken}`).toString('base64')}`;

const WITH_BODY_LIMIT = 50;
const LIMIT = 200;

/**
 * A Confluence over the part of its REST API that the service uses, as the vendor documents it:
 *
 * - GET and POST /rest/api/content, /content/search, /content/{id}/child/page with expansions:
 *   https://developer.atlassian.com/cloud/confluence/rest/v1/api-group-content/,
 *   https://docs.atlassian.com/ConfluenceServer/rest/latest
 * - CQL: https://developer.atlassian.com/server/confluence/advanced-searching-using-cql/; a query that cannot be parsed is
 *   refused with 400 (https://jira.atlassian.com/browse/CONFSERVER-55559 for `C#` sent unencoded)
 * - at most 50 results with bodies: https://support.atlassian.com/confluence/kb/searching-for-content-with-the-rest-api-and-cql-always-limits-results-to-50
 * - paging by `_links.next`, which holds a cursor on Cloud and `start` on Data Center
 * - form of errors: https://developer.atlassian.com/cloud/confluence/rest/
 * - 429 with `Retry-After`: https://developer.atlassian.com/cloud/confluence/rate-limiting/
 *
 * Only what a user may view is found; a title that the space has already is refused with 400.
 */
export class ConfluenceServer extends VendorServer {
  readonly pages: StoredPage[] = [];
  private readonly users = new Map<string, ConfluenceUser>();
  private lastId = 1_000;

  private constructor(private readonly flavour: 'cloud' | 'datacenter') {
    super();
  }

  static async start(flavour: 'cloud' | 'datacenter' = 'cloud'): Promise<ConfluenceServer> {
    const server = new ConfluenceServer(flavour);
    await server.listen();
    return server;
  }

  /** What `CONFLUENCE_BASE_URL` takes. */
  get url(): string {
    return `${this.origin}${this.context}`;
  }

  addUser(user: ConfluenceUser): this {
    this.users.set(user.authorization, user);
    return this;
  }

  /** Adds a page, below another where its id is given. */
  addPage(page: {
    space: string;
    title: string;
    body?: string;
    parentId?: string;
    restrictedTo?: string[];
  }): StoredPage {
    const stored = {
      id: String((this.lastId += 1)),
      space: page.space,
      title: page.title,
      body: page.body ?? '',
      parentId: page.parentId ?? null,
      restrictedTo: page.restrictedTo ?? null,
    };
    this.pages.push(stored);
    return stored;
  }

  /** Forgets pages, requests and faults; the users stay. */
  reset(): void {
    this.pages.length = 0;
    this.requests.length = 0;
    this.fail(null);
  }

  /** What was searched for, read by an independent parser. */
  get searches(): ParsedCql[] {
    return this.requestsTo(/\/content\/search$/).map(({ query }) => parseCql(query.get('cql') ?? ''));
  }

  private get context(): string {
    return this.flavour === 'cloud' ? '/wiki' : '/confluence';
  }

  protected answer(request: VendorRequestSeen): LoopbackReply {
    const user = this.users.get(request.headers.authorization ?? '');
    if (!user) return problem(401, 'Client must be authenticated to access this resource.');
    const path = request.route.slice(this.context.length);
    const child = /^\/rest\/api\/content\/([^/]+)\/child\/page$/.exec(path);
    if (!request.route.startsWith(`${this.context}/`)) return problem(404, 'null for uri');
    if (request.method === 'GET' && path === '/rest/api/content/search') return this.search(request, user);
    if (request.method === 'GET' && path === '/rest/api/content') return this.find(request, user);
    if (request.method === 'GET' && child) return this.children(request, user, child[1]!);
    if (request.method === 'POST' && path === '/rest/api/content') return this.create(request, user);
    return problem(404, 'null for uri');
  }

  private search(request: VendorRequestSeen, user: ConfluenceUser): LoopbackReply {
    let parsed: ParsedCql;
    let words: string[];
    try {
      parsed = parseCql(request.query.get('cql') ?? '');
      words = luceneWords(parsed.text).map((word) => word.toLowerCase());
    } catch (error) {
      return problem(400, (error as Error).message);
    }
    // One that does not exist finds nothing; keys are matched in any case.
    const spaces = parsed.spaces?.map((space) => space.toUpperCase());
    const found = this.pages
      .filter((page) => this.sees(user, page) && (spaces?.includes(page.space.toUpperCase()) ?? true))
      .map((page) => ({ page, text: `${page.title} ${pageText(page.body)}`.toLowerCase() }))
      .filter(({ text }) => words.length > 0 && words.every((word) => text.includes(word)))
      .map(({ page, text }) => ({ page, score: words.reduce((sum, word) => sum + text.split(word).length - 1, 0) }))
      .sort((one, other) => other.score - one.score);
    return this.paged(
      request,
      found.map(({ page }) => page),
    );
  }

  private find(request: VendorRequestSeen, user: ConfluenceUser): LoopbackReply {
    const space = request.query.get('spaceKey') ?? '';
    if (!user.views.includes(space)) return problem(404, `No space with key : ${space}`);
    const title = (request.query.get('title') ?? '').toLowerCase();
    const found = this.pages.filter((page) => page.space === space && page.title.toLowerCase() === title);
    return this.paged(
      request,
      found.filter((page) => this.sees(user, page)),
    );
  }

  private children(request: VendorRequestSeen, user: ConfluenceUser, id: string): LoopbackReply {
    const parent = this.pages.find((page) => page.id === id && this.sees(user, page));
    if (!parent) return problem(404, `No parent or not permitted to view content with id : ${id}`);
    return this.paged(
      request,
      this.pages.filter((page) => page.parentId === id && this.sees(user, page)),
    );
  }

  private create(request: VendorRequestSeen, user: ConfluenceUser): LoopbackReply {
    const { type, title, space, ancestors, body } = request.body as {
      type?: string;
      title?: string;
      space?: { key?: string };
      ancestors?: { id: string }[];
      body?: { storage?: { value?: string; representation?: string } };
    };
    const storage = body?.storage;
    if (type !== 'page' || !title || !space?.key || storage?.representation !== 'storage') {
      return problem(400, 'The request is not valid.');
    }
    if (!(user.writes ?? user.views).includes(space.key)) {
      return problem(403, 'User does not have permission to add content to the space.');
    }
    if (!isXhtml(storage.value ?? '')) return problem(400, 'Error parsing xhtml');
    const parentId = ancestors?.at(-1)?.id;
    if (parentId !== undefined && !this.pages.some((page) => page.id === parentId && page.space === space.key)) {
      return problem(400, `No ancestor page with id ${parentId} in the space.`);
    }
    const taken = this.pages.some(
      (page) => page.space === space.key && page.title.toLowerCase() === title.trim().toLowerCase(),
    );
    if (taken) {
      return problem(
        400,
        `A page with this title already exists: A page already exists with the title ${title} in the space with key ${space.key}`,
      );
    }
    const page = this.addPage({ space: space.key, title: title.trim(), body: storage.value, parentId });
    return { status: 200, body: this.view(page, new Set(['body.storage', 'space', 'ancestors', 'version'])) };
  }

  private sees(user: ConfluenceUser, page: StoredPage): boolean {
    const line = [page, ...this.ancestors(page)];
    const restricted = line.some(({ restrictedTo }) => restrictedTo && !restrictedTo.includes(user.authorization));
    return user.views.includes(page.space) && !restricted;
  }

  private ancestors(page: StoredPage): StoredPage[] {
    const parent = this.pages.find(({ id }) => id === page.parentId);
    return parent ? [...this.ancestors(parent), parent] : [];
  }

  private paged({ query, route }: VendorRequestSeen, pages: StoredPage[]): LoopbackReply {
    const expand = new Set((query.get('expand') ?? '').split(','));
    const most = expand.has('body.storage') ? WITH_BODY_LIMIT : LIMIT;
    const limit = Math.min(Number(query.get('limit') ?? 25), most);
    const cursor = query.get('cursor');
    const start = cursor === null ? Number(query.get('start') ?? 0) : Number(cursor.replace('raNDoM', ''));
    const results = pages.slice(start, start + limit).map((page) => this.view(page, expand));
    const position = this.flavour === 'cloud' ? `cursor=raNDoM${start + limit}` : `start=${start + limit}`;
    const next = start + limit < pages.length ? `${route}?limit=${limit}&${position}` : undefined;
    return {
      status: 200,
      body: { results, start, limit, size: results.length, _links: { base: this.url, context: this.context, next } },
    };
  }

  private view(page: StoredPage, expand: ReadonlySet<string>): Record<string, unknown> {
    return {
      id: page.id,
      type: 'page',
      status: 'current',
      title: page.title,
      ...(expand.has('space') ? { space: { key: page.space, name: page.space, type: 'global' } } : {}),
      ...(expand.has('version') ? { version: { number: 1 } } : {}),
      ...(expand.has('ancestors')
        ? { ancestors: this.ancestors(page).map(({ id, title }) => ({ id, type: 'page', title })) }
        : {}),
      ...(expand.has('body.storage') ? { body: { storage: { value: page.body, representation: 'storage' } } } : {}),
      _links: { self: `${this.url}/rest/api/content/${page.id}`, webui: `/spaces/${page.space}/pages/${page.id}` },
    };
  }
}

/** The storage format is XML: a tag that is not closed or a bare ampersand is refused. */
function isXhtml(text: string): boolean {
  const bare = text.replace(/<!\[CDATA\[[^]*?\]\]>/g, '');
  if (/&(?!#?\w+;)/.test(bare)) return false;
  const open: string[] = [];
  for (const [tag, closing, name, self] of bare.matchAll(/<(\/?)([A-Za-z][\w:-]*)[^<>]*?(\/?)>/g)) {
    if (closing && open.pop() !== name) return false;
    if (!closing && !self && !tag.endsWith('/>')) open.push(name!);
  }
  return open.length === 0 && !/<(?![/A-Za-z])/.test(bare);
}

function problem(statusCode: number, message: string): LoopbackReply {
  return { status: statusCode, body: { statusCode, data: { authorized: statusCode !== 403, valid: false }, message } };
}
