import { isTitleOf } from './knowledge.models.js';
import type { PlaneClient } from './plane.client.js';

/** Milliseconds that what was found is taken for granted, and after which what was not is looked for again. */
const FOUND_MS = 300_000;
const MISSED_MS = 60_000;

/** Ids of the pages of one title; `failed`: nobody knows whether there are any. */
export type PageIds = { status: 'known'; ids: readonly string[] } | { status: 'failed' };

/** What Plane's search needs to know beside its results, remembered for a while. */
export class PlaneLookups {
  private readonly projects = new WeakMap<PlaneClient, { ids: ReadonlyMap<string, string>; readAt: number }>();
  private readonly pages = new Map<string, { value: PageIds; readAt: number }>();

  /** @param now milliseconds since the epoch */
  constructor(private readonly now: () => number = Date.now) {}

  /** The ids of those projects that the client's user is a member of. @throws VendorError */
  async projectIds(client: PlaneClient, identifiers: readonly string[], signal?: AbortSignal): Promise<string[]> {
    let known = this.projects.get(client);
    const isFound = identifiers.every((identifier) => known?.ids.has(identifier));
    if (!known || !this.isFresh(known.readAt, isFound)) {
      const projects = await client.projects({ signal });
      known = { ids: new Map(projects.map(({ identifier, id }) => [identifier, id])), readAt: this.now() };
      this.projects.set(client, known);
    }
    const { ids } = known;
    return identifiers.flatMap((identifier) => ids.get(identifier) ?? []);
  }

  /** The pages of that title in a project. Never throws. */
  async pageIds(
    client: PlaneClient,
    wanted: { projectId: string; title: string },
    signal?: AbortSignal,
  ): Promise<PageIds> {
    const key = JSON.stringify([wanted.projectId, wanted.title]);
    const known = this.pages.get(key);
    if (known && this.isFresh(known.readAt, isFound(known.value))) return known.value;
    const value = await this.find(client, wanted, signal);
    // A caller out of time says nothing about the project.
    if (value.status === 'known' || !signal?.aborted) this.pages.set(key, { value, readAt: this.now() });
    return value;
  }

  private isFresh(readAt: number, wasFound: boolean): boolean {
    return this.now() < readAt + (wasFound ? FOUND_MS : MISSED_MS);
  }

  private async find(
    client: PlaneClient,
    { projectId, title }: { projectId: string; title: string },
    signal?: AbortSignal,
  ): Promise<PageIds> {
    try {
      const pages = await client.pages({ projectId, search: title, signal });
      return { status: 'known', ids: pages.filter((page) => isTitleOf(page.title, title)).map(({ id }) => id) };
    } catch {
      return { status: 'failed' };
    }
  }
}

function isFound(pages: PageIds): boolean {
  return pages.status === 'known' && pages.ids.length > 0;
}
