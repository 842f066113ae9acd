import { DRAFT_TITLE_PREFIX } from '../../memories/knowledge/knowledge.models.js';
import type { PromotionUnit, StoredDraft } from './promotion.models.js';

export interface DraftPage {
  pageId: string;
  pageTitle: string;
}

/**
 * Nothing can be written to a unit's container for now: it cannot be reached, or the page above the drafts can be neither
 * found nor made. Another draft of the unit would fare no better.
 */
export class ContainerFault extends Error {
  constructor(
    message: string,
    /** Whether a moment's wait may help. */
    readonly passing: boolean,
  ) {
    super(message);
    this.name = 'ContainerFault';
  }
}

/** Where drafts for a team become pages (mission, "Cross-agent promotion"): the seam to the knowledge base in use. */
export abstract class PromotionPageWriter {
  abstract readonly backend: 'confluence' | 'plane' | 'none';

  /** The unit's space or project, as it is configured; null where it has none that can be written to. No I/O. */
  abstract resolveUnitContainer(unit: PromotionUnit): string | null;

  /** What an operator has to do about a unit without one. */
  abstract missingContainerHint(unit: PromotionUnit): string;

  /**
   * Writes a draft below the page for drafts, which is made if there is none, and nowhere else, since a search would
   * serve it there. At most one page for a draft, however often and from wherever it is written: one that stands
   * already is answered with, wherever a person has moved it. A page of somebody else with the title is left alone, and
   * the draft gets the title with a number.
   *
   * @throws ContainerFault, VendorError
   */
  abstract createDraftPage(write: {
    unit: PromotionUnit;
    container: string;
    draft: StoredDraft;
    signal: AbortSignal;
  }): Promise<DraftPage>;
}

/** In place of a knowledge base where none is configured. */
export class NoPromotionWriter extends PromotionPageWriter {
  readonly backend = 'none';

  resolveUnitContainer(): null {
    return null;
  }

  missingContainerHint(): string {
    return 'set knowledge.backend to confluence or plane';
  }

  createDraftPage(): Promise<DraftPage> {
    return Promise.reject(new ContainerFault('no knowledge base is configured', false));
  }
}

/** Names that one draft may try where others hold them: three are a nuisance, more a fault. */
const MOST_NAMES = 5;

/** The name of a draft, then the same with a number, for where pages of others have it. */
export function namesFor(name: string): string[] {
  return Array.from({ length: MOST_NAMES }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`));
}

export function draftTitle(name: string): string {
  return `${DRAFT_TITLE_PREFIX} ${name}`;
}

/** A draft's page holds its id: that tells it from any other page of the title. */
export function isPageOf(body: string, draft: StoredDraft): boolean {
  return body.includes(draft.id);
}
