import type { Settings } from '../../platform/config/settings.js';
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
import type { PlaneClient, PlaneSearchRow } from './plane.client.js';
import { PlaneLookups } from './plane-lookups.js';
import { wordsOf } from './search-terms.js';
import { clipped } from './snippet.js';

/** Results asked for beyond the limit, for those that are not served. */
const SPARE = 5;
/** Words of the query that are searched for, one after another until something is found: all must be in a page. */
const RELAXATIONS = [16, 4, 2];

type Served = (row: PlaneSearchRow) => boolean;

/** Searches Plane's pages, as the agent's own user where it has one, the most recently changed first. */
export class PlaneSearcher extends KnowledgeSearcher {
  readonly backend = 'plane';
  private readonly lookups = new PlaneLookups();

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
    const words = distinct(wordsOf(text)).slice(0, RELAXATIONS[0]);
    if (!access || words.length === 0) return [];
    const { client, projects } = access;
    const projectIds = projects && (await this.lookups.projectIds(client, projects, signal));
    // Without ids the server would search all that the user reaches.
    if (projectIds?.length === 0) return [];
    const counts = RELAXATIONS.filter((count, index) => index === 0 || count < words.length);
    for (const count of counts) {
      const query = words.slice(0, count).join(' ');
      const rows = await client.searchPages({
        query,
        projectIds: projectIds ?? undefined,
        limit: limit + SPARE,
        signal,
      });
      const within = rows.filter(({ projectId }) => projectId !== null && (projectIds?.includes(projectId) ?? true));
      const isServed = await this.servedAmong(client, within, signal);
      const served = within.filter(isServed).slice(0, limit);
      if (served.length > 0) return served.map(hitOf);
    }
    return [];
  }

  private accessOf(reader: KnowledgeReader): { client: PlaneClient; projects: Containers } | null {
    const found = this.clients.planeOf(reader);
    if (!found) return null;
    const projects = containersOf(reader.scope.plane_projects, found.own);
    return projects === undefined ? null : { client: found.client, projects };
  }

  /**
   * Drafts wait for a person, and guidance for tools reaches an agent by its own block. Where the page above the drafts
   * is not known, their titles tell; a lead publishes one by moving it from there.
   */
  private async servedAmong(
    client: PlaneClient,
    rows: readonly PlaneSearchRow[],
    signal: AbortSignal | undefined,
  ): Promise<Served> {
    const projectIds = distinct(rows.flatMap(({ projectId }) => projectId ?? []));
    const guidance = this.settings.tool_skills.plane;
    const guidanceIds = guidance
      ? await this.lookups.projectIds(client, [guidance.project.trim().toUpperCase()], signal).catch(() => projectIds)
      : [];
    const rules = await Promise.all(
      projectIds.map(async (projectId): Promise<[string, Served]> => {
        const drafts = await this.lookups.pageIds(client, { projectId, title: DRAFTS_PARENT_TITLE }, signal);
        const isKnown = drafts.status === 'known' && drafts.ids.length > 0;
        const isDraft: Served = ({ title, parentId }) =>
          isTitleOf(title, DRAFTS_PARENT_TITLE) ||
          (isKnown ? parentId !== null && drafts.ids.includes(parentId) : isDraftTitle(title));
        if (!guidance || !guidanceIds.includes(projectId)) return [projectId, (row) => !isDraft(row)];
        const above = await this.lookups.pageIds(client, { projectId, title: guidance.parent }, signal);
        const isGuidance: Served = ({ title, parentId }) =>
          isTitleOf(title, guidance.parent) ||
          (parentId !== null && (above.status === 'failed' || above.ids.includes(parentId)));
        return [projectId, (row) => !isDraft(row) && !isGuidance(row)];
      }),
    );
    const ruleOf = new Map(rules);
    return (row) => row.projectId !== null && (ruleOf.get(row.projectId)?.(row) ?? false);
  }
}

function hitOf(row: PlaneSearchRow): KnowledgeHit {
  return { pageId: row.id, title: row.title, container: row.projectId, snippet: clipped(row.snippet.trim()) };
}

/** Each once, whatever its case; the first spelling stays. */
function distinct(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.filter((text) => {
    const folded = text.toLowerCase();
    const isNew = !seen.has(folded);
    seen.add(folded);
    return isNew;
  });
}
