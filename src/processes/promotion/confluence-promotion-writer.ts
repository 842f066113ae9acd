import type { ConfluenceClient, ConfluencePage } from '../../memories/knowledge/confluence.client.js';
import type { KnowledgeClients } from '../../memories/knowledge/knowledge-clients.js';
import { DRAFTS_PARENT_TITLE } from '../../memories/knowledge/knowledge.models.js';
import { VendorError } from '../../memories/knowledge/vendor-http.js';
import { DRAFTS_PARENT_TEXT } from './drafts-parent.js';
import { pageHtml } from './page-html.js';
import {
  ContainerFault,
  type DraftPage,
  draftTitle,
  isPageOf,
  namesFor,
  PromotionPageWriter,
} from './promotion-page-writer.js';
import type { PromotionUnit, StoredDraft } from './promotion.models.js';

/** Where a draft goes. */
interface Place {
  client: ConfluenceClient;
  spaceKey: string;
  signal: AbortSignal;
}

/**
 * Drafts as pages of the unit's space. A space has each title once, so the page of a draft that was written before is found
 * by its title.
 */
export class ConfluencePromotionWriter extends PromotionPageWriter {
  readonly backend = 'confluence';

  constructor(private readonly clients: KnowledgeClients) {
    super();
  }

  resolveUnitContainer(unit: PromotionUnit): string | null {
    const space = unit.confluenceSpace?.trim() ?? '';
    return space === '' || !this.clientOf(unit) ? null : space;
  }

  missingContainerHint(unit: PromotionUnit): string {
    if (!this.clientOf(unit)) {
      return 'set CONFLUENCE_BASE_URL and credentials for the organisation, or for the lead of the unit';
    }
    return `set confluence_space of the unit "${unit.name}" in the organisation document`;
  }

  async createDraftPage(write: {
    unit: PromotionUnit;
    container: string;
    draft: StoredDraft;
    signal: AbortSignal;
  }): Promise<DraftPage> {
    const client = this.clientOf(write.unit);
    if (!client) throw new ContainerFault(this.missingContainerHint(write.unit), false);
    const place = { client, spaceKey: write.container, signal: write.signal };
    const parentId = await draftsParent(place);
    let refusal: unknown;
    for (const name of namesFor(write.draft.name)) {
      const title = draftTitle(name);
      try {
        const { id } = await client.createPage({ ...place, title, body: pageHtml(write.draft.content), parentId });
        return { pageId: id, pageTitle: title };
      } catch (error) {
        if (!mayBeTaken(error)) throw error;
        const [taken] = await client.pagesByTitle({ ...place, title, withBody: true });
        if (taken && isPageOf(taken.body, write.draft)) return { pageId: taken.id, pageTitle: taken.title };
        refusal = error;
      }
    }
    throw refusal;
  }

  /** The organisation's own account writes; where it has none, the lead of the unit does. */
  private clientOf({ orgId, leadCredentials }: PromotionUnit): ConfluenceClient | null {
    const found =
      this.clients.confluenceOf({ orgId, credentials: {} }) ??
      this.clients.confluenceOf({ orgId, credentials: leadCredentials });
    return found?.client ?? null;
  }
}

async function draftsParent(place: Place): Promise<string> {
  const find = async (): Promise<ConfluencePage | undefined> =>
    (await place.client.pagesByTitle({ ...place, title: DRAFTS_PARENT_TITLE }))[0];
  try {
    const found = await find();
    if (found) return found.id;
    const made = await place.client
      .createPage({ ...place, title: DRAFTS_PARENT_TITLE, body: pageHtml(DRAFTS_PARENT_TEXT) })
      .catch(async (error: unknown) => {
        // Somebody else may have made it in this moment.
        const others = mayBeTaken(error) ? await find() : undefined;
        if (!others) throw error;
        return others;
      });
    return made.id;
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    throw new ContainerFault(
      `the page "${DRAFTS_PARENT_TITLE}" of the space ${place.spaceKey} can be neither found nor made: ${error.message}`,
      error.fault === 'unavailable',
    );
  }
}

/** How Confluence refuses a title that the space has already, and much else. */
function mayBeTaken(error: unknown): boolean {
  return error instanceof VendorError && (error.status === 400 || error.status === 409);
}
