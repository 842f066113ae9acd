import { beforeEach, describe, expect, it } from '@jest/globals';
import type { PlaneClient } from './plane.client.js';
import { PlaneLookups } from './plane-lookups.js';

const MINUTE = 60_000;
let clock: number;
let asked: number;
let projects: string[];
let titles: string[] | null;
let lookups: PlaneLookups;

/** Counts what is asked, and says what the test set. */
const client = {
  projects: async () => {
    asked += 1;
    return projects.map((identifier) => ({ id: `id of ${identifier}`, identifier, name: '' }));
  },
  pages: async () => {
    asked += 1;
    if (!titles) throw new Error('down');
    return titles.map((title, index) => ({
      id: `${index}`,
      title,
      parentId: null,
      externalId: null,
      externalSource: null,
    }));
  },
} as unknown as PlaneClient;

beforeEach(() => {
  clock = 1_000_000;
  asked = 0;
  projects = ['ENG'];
  titles = ['Drafts of another kind', ' drafts'];
  lookups = new PlaneLookups(() => clock);
});

const pageIds = (): ReturnType<PlaneLookups['pageIds']> => lookups.pageIds(client, { projectId: 'p', title: 'Drafts' });

describe('what Plane was asked before', () => {
  it('is remembered for five minutes where it was found', async () => {
    expect(await pageIds()).toEqual({ status: 'known', ids: ['1'] });
    clock += 5 * MINUTE - 1;
    titles = [];
    expect(await pageIds()).toEqual({ status: 'known', ids: ['1'] });
    expect(asked).toBe(1);
    clock += 1;
    expect(await pageIds()).toEqual({ status: 'known', ids: [] });
  });

  it.each([
    ['there was none', [] as string[] | null, 'known'],
    ['it failed', null, 'failed'],
  ])('is asked again after a minute where %s', async (_, first, status) => {
    titles = first;
    expect(await pageIds()).toMatchObject({ status });
    titles = ['Drafts'];
    clock += MINUTE - 1;
    expect(await pageIds()).toMatchObject({ status });
    clock += 1;
    expect(await pageIds()).toEqual({ status: 'known', ids: ['0'] });
  });

  it('does not hold a failure against a project whose caller had no time', async () => {
    titles = null;
    const wanted = { projectId: 'p', title: 'Drafts' };
    expect(await lookups.pageIds(client, wanted, AbortSignal.abort())).toEqual({ status: 'failed' });
    titles = ['Drafts'];
    expect(await pageIds()).toEqual({ status: 'known', ids: ['0'] });
  });

  it('holds projects too, those that were not there for a minute', async () => {
    expect(await lookups.projectIds(client, ['ENG', 'OPS'])).toEqual(['id of ENG']);
    projects.push('OPS');
    expect(await lookups.projectIds(client, ['ENG', 'OPS'])).toEqual(['id of ENG']);
    expect(await lookups.projectIds(client, ['ENG'])).toEqual(['id of ENG']);
    expect(asked).toBe(1);
    clock += MINUTE;
    expect(await lookups.projectIds(client, ['ENG', 'OPS'])).toEqual(['id of ENG', 'id of OPS']);
    clock += 5 * MINUTE;
    projects = [];
    expect(await lookups.projectIds(client, ['ENG'])).toEqual([]);
    expect(asked).toBe(3);
  });
});
