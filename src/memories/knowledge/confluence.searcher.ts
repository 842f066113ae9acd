import type { Settings } from '../../platform/config/settings.js';
import type { ConfluenceClient, ConfluencePage, ConfluencePosition } from './confluence.client.js';
import { pageCql } from './cql.js';
import type { KnowledgeClients } from './knowledge-clients.js';
import { type Containers, containersOf } from './knowledge-scope.js';
import {
  DRAFTS_PARENT_TITLE,
  isDraftTitle,
  isTitleOf,
  type KnowledgeHit,
  type KnowledgeQuery,
  type KnowledgeReader,
  KnowledgeSearcher,
} from './knowledge.models.js';
import { snippetOf } from './snippet.js';

/** Results asked for beyond the limit, for those that are not served. */
const SPARE = 5;
/** Requests one search may take where most of what is found is not served. */
const ROUNDS = 3;

/** Searches Confluence by CQL, as the agent's own user where it has one, ranked by Confluence. */
export class ConfluenceSearcher extends KnowledgeSearcher {
  readonly backend = 'confluence';

  constructor(
    private readonly clients: KnowledgeClients,
    private readonly settings: Settings,
  ) {
    super();
  }

  canSearch(reader: KnowledgeReader): boolean {
    return this.accessOf(reader) !== null;
  }

  async search(reader: KnowledgeReader, { text, limit, signal }: KnowledgeQuery): Promise<KnowledgeHit[]> {
    const access = this.accessOf(reader);
    const cql = access && pageCql({ spaces: access.spaces, text });
    if (!access || cql === null) return [];
    const found = new Map<string, ConfluencePage>();
    let from: ConfluencePosition | undefined;
    for (let round = 0; round < ROUNDS && found.size < limit; round += 1) {
      const { pages, next } = await access.client.search({ cql, limit: limit + SPARE, from, signal });
      for (const page of pages) {
        if (isWithin(access.spaces, page) && this.isServed(page) && !found.has(page.id)) found.set(page.id, page);
      }
      if (!next) break;
      from = next;
    }
    return [...found.values()].slice(0, limit).map((page) => ({
      pageId: page.id,
      title: page.title,
      container: page.spaceKey,
      snippet: snippetOf(page.body, text),
    }));
  }

  private accessOf(reader: KnowledgeReader): { client: ConfluenceClient; spaces: Containers } | null {
    const found = this.clients.confluenceOf(reader);
    if (!found) return null;
    const spaces = containersOf(reader.scope.confluence_spaces, found.own);
    return spaces === undefined ? null : { client: found.client, spaces };
  }

  /**
   * Drafts wait for a person, and guidance for tools reaches an agent by its own block. A lead publishes a draft by moving
   * it from its place, so its title tells only where the pages above it are not known.
   */
  private isServed(page: ConfluencePage): boolean {
    const guidance = this.settings.tool_skills.confluence;
    const line = [page.title, ...(page.ancestors ?? [])];
    if (line.some((title) => isTitleOf(title, DRAFTS_PARENT_TITLE))) return false;
    if (page.ancestors === null && isDraftTitle(page.title)) return false;
    if (!guidance || page.spaceKey?.toUpperCase() !== guidance.space.trim().toUpperCase()) return true;
    return !line.some((title) => isTitleOf(title, guidance.parent));
  }
}

/** The query says so already; a server that answers otherwise is not believed. */
function isWithin(spaces: Containers, page: ConfluencePage): boolean {
  return spaces === null || page.spaceKey === null || spaces.includes(page.spaceKey.toUpperCase());
}
