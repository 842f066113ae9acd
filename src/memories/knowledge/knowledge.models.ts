import type { CredentialsDocument } from '../../core/organization/organization.document.js';

/** Title of the page below which drafts of skills wait for a person; what stands there is never served. */
export const DRAFTS_PARENT_TITLE = 'Auto-Drafted Skills';

/** How the title of such a draft begins. */
export const DRAFT_TITLE_PREFIX = '[Auto-draft]';

/** On whose behalf a knowledge base is searched, with all that decides what may be found; reading it took the only I/O. */
export interface KnowledgeReader {
  orgId: string;
  /** The organisation's own lists, as they were written: the one source of scope. */
  scope: { confluence_spaces: readonly string[]; plane_projects: readonly string[] };
  /** Names of the environment variables that hold the agent's own credentials. */
  credentials: CredentialsDocument;
}

export interface KnowledgeQuery {
  /** Plain keywords; whatever else stands in them is taken for text. */
  text: string;
  /** Most hits. */
  limit: number;
  signal?: AbortSignal;
}

/** A page that was found: outside data, in storable text. */
export interface KnowledgeHit {
  pageId: string;
  title: string;
  /** The space's key or the project's id; null where the server does not say. */
  container: string | null;
  /** `''` where there is none. */
  snippet: string;
}

/** The team's knowledge base, searched live (mission, "Relevant-knowledge prefetch"). */
export abstract class KnowledgeSearcher {
  /** `none`: there is no knowledge base, and nobody can search. */
  abstract readonly backend: 'confluence' | 'plane' | 'none';

  /** Whether a search could return anything. No I/O. */
  abstract canSearch(reader: KnowledgeReader): boolean;

  /**
   * The best pages first, none that waits for review. Empty where `canSearch` is false and where the query has no word.
   *
   * @throws VendorError where the knowledge base does not answer
   */
  abstract search(reader: KnowledgeReader, query: KnowledgeQuery): Promise<KnowledgeHit[]>;
}

/** In place of a knowledge base where none is configured. */
export class NoKnowledgeSearcher extends KnowledgeSearcher {
  readonly backend = 'none';

  canSearch(): boolean {
    return false;
  }

  async search(): Promise<KnowledgeHit[]> {
    return [];
  }
}

/** True for the page that drafts stand below, and for others that a configuration keeps from being served. */
export function isTitleOf(title: string, wanted: string): boolean {
  return title.trim().toLowerCase() === wanted.trim().toLowerCase();
}

export function isDraftTitle(title: string): boolean {
  return title.trim().toLowerCase().startsWith(DRAFT_TITLE_PREFIX.toLowerCase());
}
