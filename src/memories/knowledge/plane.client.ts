import type { CircuitBreaker } from '../../platform/outbound/circuit-breaker.js';
import { storableText } from '../../platform/text/storable-text.js';
import { type Fields, fieldsOf, rowsOf, textOf } from './vendor-answer.js';
import { VendorError, VendorHttp } from './vendor-http.js';

export interface PlaneProject {
  id: string;
  /** Upper case, e.g. `ENG`. */
  identifier: string;
  name: string;
}

/** A page that a search found. */
export interface PlaneSearchRow {
  id: string;
  title: string;
  projectId: string | null;
  parentId: string | null;
  /** The server's own, around the first word that matched. */
  snippet: string;
}

/** A page of a project's list, without its body. */
export interface PlanePage {
  id: string;
  title: string;
  parentId: string | null;
  externalId: string | null;
  externalSource: string | null;
}

/** Most rows that the server gives at once. */
const MOST_ROWS = 100;
/** Requests for one whole list: 5,000 rows. */
const LIST_REQUESTS = 50;
const LISTED_FIELDS = 'id,name,parent,external_id,external_source';

/**
 * Plane's REST API as one user: projects, and the pages and page search of the fork. Everything is bounded by the
 * user's memberships; what they do not reach is as if it were not there.
 *
 * @see https://developers.plane.so/api-reference/introduction
 * @see https://developers.plane.so/api-reference/page/list-project-pages
 * @see https://github.com/makeplane/plane/pull/9469 the page search
 * @see https://github.com/makeplane/plane/pull/9470 the pages
 */
export class PlaneClient {
  private readonly http: VendorHttp;

  constructor(
    private readonly options: {
      baseUrl: string;
      workspace: string;
      apiKey: string;
      timeoutMs: number;
      breaker?: CircuitBreaker;
      beforeCall?: () => void;
    },
  ) {
    const { apiKey, workspace: _, ...http } = options;
    this.http = new VendorHttp({ ...http, vendor: 'Plane', headers: { 'x-api-key': apiKey } });
  }

  /** The projects that the user is a member of. @throws VendorError */
  async projects(query: { signal?: AbortSignal } = {}): Promise<PlaneProject[]> {
    const rows = await this.list(['projects'], {}, query.signal);
    return rows.flatMap((row) => {
      const [id, identifier] = [textOf(row.id), textOf(row.identifier)];
      if (id === null || identifier === null) return [];
      return { id, identifier: identifier.trim().toUpperCase(), name: textOf(row.name) ?? identifier };
    });
  }

  /**
   * Pages that hold every one of the query's words, the most recently changed first. The server refuses an empty query and
   * more than 16 distinct words.
   *
   * @throws VendorError
   */
  async searchPages(query: {
    query: string;
    /** Absent: all that the user reaches. */
    projectIds?: readonly string[];
    limit: number;
    signal?: AbortSignal;
  }): Promise<PlaneSearchRow[]> {
    const answer = await this.http.get({
      path: this.path(['pages', 'search']),
      query: {
        query: query.query,
        per_page: Math.min(Math.max(query.limit, 1), MOST_ROWS),
        projects: query.projectIds?.join(','),
      },
      signal: query.signal,
    });
    return resultsOf(answer).flatMap((row) => {
      const id = textOf(row.id);
      if (id === null) return [];
      return {
        id,
        title: textOf(row.name) ?? '',
        projectId: textOf(row.project_id),
        parentId: textOf(row.parent_id),
        snippet: textOf(row.snippet) ?? '',
      };
    });
  }

  /** All pages of a project that are not archived; with `search` those whose title holds it. @throws VendorError */
  async pages(query: { projectId: string; search?: string; signal?: AbortSignal }): Promise<PlanePage[]> {
    const path = ['projects', query.projectId, 'pages'];
    const rows = await this.list(path, { search: query.search, fields: LISTED_FIELDS }, query.signal);
    return rows.flatMap((row) => pageOf(row) ?? []);
  }

  /** A page with its body in HTML. @throws VendorError, `refused` with 404 where the user does not reach it */
  async page(query: {
    projectId: string;
    pageId: string;
    signal?: AbortSignal;
  }): Promise<PlanePage & { body: string }> {
    const path = this.path(['projects', query.projectId, 'pages', query.pageId]);
    const row = fieldsOf(await this.http.get({ path, signal: query.signal }));
    const page = pageOf(row);
    if (!page) throw new VendorError('Plane: the answer holds no page', 'rubbish', 200);
    const html = row.description_html;
    return { ...page, body: typeof html === 'string' ? storableText(html) : '' };
  }

  /**
   * Makes a public page. A pair of external id and source that the project has already is refused with 409; the body
   * of the error then holds the other page's `id`, if the user may see it.
   *
   * @throws VendorError
   */
  async createPage(page: {
    projectId: string;
    title: string;
    /** HTML; the server sanitises it. */
    body: string;
    /** Absent: at the root of the project. */
    parentId?: string;
    externalId: string;
    externalSource: string;
    signal?: AbortSignal;
  }): Promise<PlanePage> {
    const answer = await this.http.post(
      { path: this.path(['projects', page.projectId, 'pages']), signal: page.signal },
      {
        name: page.title,
        description_html: page.body,
        access: 0,
        ...(page.parentId === undefined ? {} : { parent: page.parentId }),
        external_id: page.externalId,
        external_source: page.externalSource,
      },
    );
    const created = pageOf(fieldsOf(answer));
    if (!created) throw new VendorError('Plane: the answer to a new page names no page', 'rubbish', 201);
    return created;
  }

  private async list(
    path: readonly string[],
    query: Record<string, string | undefined>,
    signal?: AbortSignal,
  ): Promise<Fields[]> {
    const rows: Fields[] = [];
    let cursor: string | undefined;
    for (let count = 0; count < LIST_REQUESTS; count += 1) {
      const answer = await this.http.get({
        path: this.path(path),
        query: { ...query, per_page: MOST_ROWS, cursor },
        signal,
      });
      rows.push(...resultsOf(answer));
      const { next_page_results: more, next_cursor: next } = fieldsOf(answer);
      if (more !== true || typeof next !== 'string' || next === '' || next === cursor) return rows;
      cursor = next;
    }
    throw new VendorError(`Plane: the list of ${path.at(-1)} has no end`, 'rubbish');
  }

  /** Plane's paths end with a slash. */
  private path(below: readonly string[]): string[] {
    return ['api', 'v1', 'workspaces', this.options.workspace, ...below, ''];
  }
}

/** The rows of an answer; some releases leave the frame of pages away. */
function resultsOf(answer: unknown): Fields[] {
  const results = Array.isArray(answer) ? answer : fieldsOf(answer).results;
  if (!Array.isArray(results)) throw new VendorError('Plane: the answer holds no list of results', 'rubbish', 200);
  return rowsOf(results);
}

function pageOf(row: Fields): PlanePage | null {
  const id = textOf(row.id);
  if (id === null) return null;
  return {
    id,
    title: textOf(row.name) ?? '',
    // an id, or with `expand` the page itself
    parentId: textOf(row.parent) ?? textOf(fieldsOf(row.parent).id),
    externalId: textOf(row.external_id),
    externalSource: textOf(row.external_source),
  };
}
