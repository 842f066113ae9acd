import type { CircuitBreaker } from '../../platform/outbound/circuit-breaker.js';
import { storableText } from '../../platform/text/storable-text.js';
import { type Fields, fieldsOf, rowsOf, textOf } from './vendor-answer.js';
import { VendorError, VendorHttp } from './vendor-http.js';

/** A user of Confluence Cloud (Basic), or a personal access token of Data Center (Bearer). */
export type ConfluenceCredentials = { username: string; apiToken: string } | { personalToken: string };

export interface ConfluencePage {
  id: string;
  title: string;
  /** Null where the server does not say. */
  spaceKey: string | null;
  /** Titles of the pages above, the topmost first; null where the server does not say. */
  ancestors: string[] | null;
  /** In the storage format; `''` where the server sent none. */
  body: string;
  /** Null where the server does not say. */
  version: number | null;
}

export interface ConfluencePages {
  pages: ConfluencePage[];
  /** Where the next page of results begins; null at the end. */
  next: ConfluencePosition | null;
}

/** Data Center counts, Cloud hands out cursors. */
export type ConfluencePosition = { start: string } | { cursor: string };

/** Rows a request, where a whole list is read: with bodies the server gives at most 50. */
const LIST_LIMIT = 50;
/** Requests for one whole list: 1,000 pages. */
const LIST_REQUESTS = 20;

/**
 * The part of Confluence's REST API that Cloud (`/wiki/rest/api`) and Data Center share, as one user.
 *
 * @see https://developer.atlassian.com/cloud/confluence/rest/v1/api-group-content/
 * @see https://docs.atlassian.com/ConfluenceServer/rest/latest
 */
export class ConfluenceClient {
  private readonly http: VendorHttp;

  constructor(options: {
    baseUrl: string;
    credentials: ConfluenceCredentials;
    timeoutMs: number;
    breaker?: CircuitBreaker;
    beforeCall?: () => void;
  }) {
    const { credentials, ...http } = options;
    const authorization =
      'personalToken' in credentials
        ? `Bearer ${credentials.personalToken}`
        : `Basic ${Buffer.from(`${credentials.username}:${credentials.apiToken}`).toString('base64')}`;
    const headers = {
      authorization,
      // Else Data Center may take a POST without a browser's origin for a forged one.
      'x-atlassian-token': 'no-check',
    };
    this.http = new VendorHttp({ ...http, vendor: 'Confluence', headers });
  }

  /** One page of what a CQL query finds, best first, with bodies, spaces and ancestors. @throws VendorError */
  async search(query: {
    cql: string;
    limit: number;
    from?: ConfluencePosition;
    signal?: AbortSignal;
  }): Promise<ConfluencePages> {
    const answer = await this.http.get({
      path: ['rest', 'api', 'content', 'search'],
      query: { cql: query.cql, limit: query.limit, expand: 'body.storage,space,ancestors', ...query.from },
      signal: query.signal,
    });
    return pagesOf(answer, query.from);
  }

  /** The pages of that exact title in a space; there is one at most. @throws VendorError */
  async pagesByTitle(query: {
    spaceKey: string;
    title: string;
    /** @default false */
    withBody?: boolean;
    signal?: AbortSignal;
  }): Promise<ConfluencePage[]> {
    const answer = await this.http.get({
      path: ['rest', 'api', 'content'],
      query: {
        spaceKey: query.spaceKey,
        title: query.title,
        type: 'page',
        expand: `${query.withBody ? 'body.storage,' : ''}space,ancestors,version`,
        limit: 2,
      },
      signal: query.signal,
    });
    // Within a space titles differ by more than case.
    return pagesOf(answer).pages.filter((page) => page.title.toLowerCase() === query.title.trim().toLowerCase());
  }

  /** All pages directly below a page, with their bodies. @throws VendorError, also where there are over 1,000 */
  async childPages(query: { pageId: string; signal?: AbortSignal }): Promise<ConfluencePage[]> {
    const children: ConfluencePage[] = [];
    let from: ConfluencePosition | undefined;
    for (let count = 0; count < LIST_REQUESTS; count += 1) {
      const answer = await this.http.get({
        path: ['rest', 'api', 'content', query.pageId, 'child', 'page'],
        query: { expand: 'body.storage,version', limit: LIST_LIMIT, ...from },
        signal: query.signal,
      });
      const { pages, next } = pagesOf(answer, from);
      children.push(...pages);
      if (!next) return children;
      from = next;
    }
    throw new VendorError('Confluence: the list of child pages has no end', 'rubbish');
  }

  /**
   * Makes a page. A title that the space has already is refused with 400, by some releases with 409, and so is much
   * else: `pagesByTitle` tells which.
   *
   * @throws VendorError
   */
  async createPage(page: {
    spaceKey: string;
    title: string;
    /** In the storage format. */
    body: string;
    /** Absent: at the root of the space. */
    parentId?: string;
    signal?: AbortSignal;
  }): Promise<ConfluencePage> {
    const answer = await this.http.post(
      { path: ['rest', 'api', 'content'], signal: page.signal },
      {
        type: 'page',
        title: page.title,
        space: { key: page.spaceKey },
        ...(page.parentId === undefined ? {} : { ancestors: [{ id: page.parentId }] }),
        body: { storage: { value: page.body, representation: 'storage' } },
      },
    );
    const created = pageOf(fieldsOf(answer));
    if (!created) throw new VendorError('Confluence: the answer to a new page names no page', 'rubbish', 200);
    return created;
  }
}

function pagesOf(answer: unknown, from?: ConfluencePosition): ConfluencePages {
  const { results, _links: links } = fieldsOf(answer);
  if (!Array.isArray(results)) throw new VendorError('Confluence: the answer holds no list of results', 'rubbish', 200);
  return { pages: rowsOf(results).flatMap((row) => pageOf(row) ?? []), next: nextOf(fieldsOf(links).next, from) };
}

function pageOf(row: Fields): ConfluencePage | null {
  const id = textOf(row.id);
  const title = textOf(row.title);
  if (id === null || title === null) return null;
  const { value } = fieldsOf(fieldsOf(row.body).storage);
  const version = fieldsOf(row.version).number;
  return {
    id,
    title,
    spaceKey: textOf(fieldsOf(row.space).key),
    ancestors: Array.isArray(row.ancestors)
      ? rowsOf(row.ancestors).flatMap((ancestor) => textOf(ancestor.title) ?? [])
      : null,
    body: typeof value === 'string' ? storableText(value) : '',
    version: typeof version === 'number' ? version : null,
  };
}

/** Only the position is taken from the server's link; its host and path are ours. The same position again is no next. */
function nextOf(link: unknown, from?: ConfluencePosition): ConfluencePosition | null {
  if (typeof link !== 'string') return null;
  const query = new URLSearchParams(link.slice(link.indexOf('?') + 1));
  const cursor = query.get('cursor');
  if (cursor) return from && 'cursor' in from && from.cursor === cursor ? null : { cursor };
  const start = query.get('start') ?? '';
  if (!/^[0-9]{1,9}$/.test(start)) return null;
  return Number(start) > (from && 'start' in from ? Number(from.start) : 0) ? { start } : null;
}
