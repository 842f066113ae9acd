import type { KnowledgeClients } from '../../memories/knowledge/knowledge-clients.js';
import { DRAFTS_PARENT_TITLE, isTitleOf } from '../../memories/knowledge/knowledge.models.js';
import type { PlaneClient } from '../../memories/knowledge/plane.client.js';
import { fieldsOf, textOf } from '../../memories/knowledge/vendor-answer.js';
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

/** With this an `external_id` is one of ours. */
const EXTERNAL_SOURCE = 'agent-learning';

/** Where a draft goes. */
interface Place {
  client: PlaneClient;
  projectId: string;
  signal: AbortSignal;
}

/**
 * Drafts as pages of the unit's project. Each is stamped with an `external_id` of which the project takes one only, so the
 * page of a draft that was written before is found by it, whatever it is called by now.
 */
export class PlanePromotionWriter extends PromotionPageWriter {
  readonly backend = 'plane';

  constructor(private readonly clients: KnowledgeClients) {
    super();
  }

  resolveUnitContainer(unit: PromotionUnit): string | null {
    const project = unit.planeProject?.trim() ?? '';
    return project === '' || !this.clientOf(unit) ? null : project;
  }

  missingContainerHint(unit: PromotionUnit): string {
    if (!this.clientOf(unit)) {
      return 'set PLANE_BASE_URL, PLANE_WORKSPACE and a key for the organisation, or for the lead of the unit';
    }
    return `set plane_project of the unit "${unit.name}" in the organisation document`;
  }

  async createDraftPage(write: {
    unit: PromotionUnit;
    container: string;
    draft: StoredDraft;
    signal: AbortSignal;
  }): Promise<DraftPage> {
    const client = this.clientOf(write.unit);
    if (!client) throw new ContainerFault(this.missingContainerHint(write.unit), false);
    const { place, parentId } = await this.placeOf(client, write.container, write.signal);
    let refusal: unknown;
    for (const name of namesFor(write.draft.name)) {
      const [title, externalId] = [draftTitle(name), `draft:${name}`];
      try {
        const body = pageHtml(write.draft.content);
        const stamp = { externalId, externalSource: EXTERNAL_SOURCE };
        const { id } = await client.createPage({ ...place, ...stamp, title, body, parentId });
        return { pageId: id, pageTitle: title };
      } catch (error) {
        if (!isTaken(error)) throw error;
        const taken = await pageStamped(place, externalId, error);
        if (taken && isPageOf(taken.body, write.draft)) return { pageId: taken.id, pageTitle: taken.title };
        refusal = error;
      }
    }
    throw refusal;
  }

  private async placeOf(
    client: PlaneClient,
    container: string,
    signal: AbortSignal,
  ): Promise<{ place: Place; parentId: string }> {
    try {
      const projects = await client.projects({ signal });
      const project = projects.find(({ identifier }) => identifier === container.toUpperCase());
      if (!project) throw new ContainerFault(`the project ${container} is not there for the user of the key`, false);
      const place = { client, projectId: project.id, signal };
      return { place, parentId: await draftsParent(place) };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw new ContainerFault(
        `the page "${DRAFTS_PARENT_TITLE}" of the project ${container} can be neither found nor made: ${error.message}`,
        error.fault === 'unavailable',
      );
    }
  }

  /** The organisation's own account writes; where it has none, the lead of the unit does. */
  private clientOf({ orgId, leadCredentials }: PromotionUnit): PlaneClient | null {
    const found =
      this.clients.planeOf({ orgId, credentials: {} }) ?? this.clients.planeOf({ orgId, credentials: leadCredentials });
    return found?.client ?? null;
  }
}

/** @throws VendorError */
async function draftsParent(place: Place): Promise<string> {
  const find = async (): Promise<string | undefined> => {
    const pages = await place.client.pages({ ...place, search: DRAFTS_PARENT_TITLE });
    // Of several always the same.
    return pages
      .filter(({ title }) => isTitleOf(title, DRAFTS_PARENT_TITLE))
      .map(({ id }) => id)
      .sort()[0];
  };
  const found = await find();
  if (found !== undefined) return found;
  let refusal: unknown;
  for (const name of namesFor(DRAFTS_PARENT_TITLE)) {
    try {
      const { id } = await place.client.createPage({
        ...place,
        title: DRAFTS_PARENT_TITLE,
        body: pageHtml(DRAFTS_PARENT_TEXT),
        externalId: `doc:${name}`,
        externalSource: EXTERNAL_SOURCE,
      });
      return id;
    } catch (error) {
      if (!isTaken(error)) throw error;
      // Made by somebody else in this moment, or once by us and renamed or archived since: a search would not know that one.
      const others = await find();
      if (others !== undefined) return others;
      refusal = error;
    }
  }
  throw refusal;
}

/** The page that has the stamp already; null where the user of the key may not see it. */
async function pageStamped(
  { client, projectId, signal }: Place,
  externalId: string,
  { body }: VendorError,
): Promise<{ id: string; title: string; body: string } | null> {
  const told = textOf(fieldsOf(body).id);
  const pageId = told ?? (await listedStamp({ client, projectId, signal }, externalId));
  if (pageId === undefined) return null;
  return client.page({ projectId, pageId, signal }).catch((error: unknown) => {
    if (error instanceof VendorError && error.fault === 'refused') return null;
    throw error;
  });
}

async function listedStamp(place: Place, wanted: string): Promise<string | undefined> {
  const pages = await place.client.pages(place);
  return pages.find(({ externalId, externalSource }) => externalId === wanted && externalSource === EXTERNAL_SOURCE)
    ?.id;
}

function isTaken(error: unknown): error is VendorError {
  return error instanceof VendorError && error.status === 409;
}
