import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { PlaneServer, type StoredPlanePage, type StoredProject } from './support/plane-server.js';
import {
  aDraft,
  anOrganization,
  forgetAll,
  learnedBy,
  promote,
  promotionsOf,
  putOrganization,
} from './support/promotion.js';
import { eventsOf, eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';

const KEY = 'plane-key';
const SIBLINGS = ['ann-bot', 'ben-bot', 'cem-bot'];
const UNIT = { name: 'Platform', plane_project: 'eng' };
const OURS = { externalSource: 'agent-learning' };

let test: TestApp;
let model: ScriptedModel;
let plane: PlaneServer;
let project: StoredProject;

const calls = (): number => model.requestsOf('promotion_synthesizer').length;
const parents = (): StoredPlanePage[] => plane.pages.filter(({ name }) => name === 'Auto-Drafted Skills');
const drafts = (): StoredPlanePage[] => plane.pages.filter(({ name }) => name.startsWith('[Auto-draft]'));
const states = async (): Promise<string[]> => (await promotionsOf(test)).map(({ state }) => state);
const published = (): Promise<string[]> => eventually(states, (all) => all.join() === 'published');

beforeAll(async () => {
  plane = await PlaneServer.start();
  model = await ScriptedModel.start();
  test = await startApp({
    model,
    env: { PLANE_BASE_URL: plane.url, PLANE_WORKSPACE: plane.workspace, PLANE_API_KEY: KEY },
    config: {
      knowledge: { backend: 'plane', timeout_seconds: 1 },
      organization: { name: 'Acme' },
      learning: { skill_synthesis: { scheduler_enabled: false }, reflect: { max_attempts: 2 } },
    },
  });
});
beforeEach(async () => {
  model.reset();
  await forgetAll(test);
  plane.reset();
  project = plane.addProject('ENG', [KEY]);
  await putOrganization(test, anOrganization([UNIT], { Platform: SIBLINGS }));
  model.reply('promotion_synthesizer', aDraft('refund-order'));
});
afterAll(async () => {
  await test.close();
  await model.close();
  await plane.close();
});

describe('a draft on Plane', () => {
  it('stands, public and stamped, below a page that is made for drafts', async () => {
    await learnedBy(test, SIBLINGS);
    const events = eventsOf(test, 'skill.promoted');
    for (let tick = 0; tick < 3; tick++) expect(await promote(test)).toEqual([]);
    const [parent] = parents();
    expect(parent).toMatchObject({ ...OURS, externalId: 'doc:Auto-Drafted Skills', parentId: null, access: 0 });
    expect(drafts()).toMatchObject([
      { ...OURS, name: '[Auto-draft] refund-order', externalId: 'draft:refund-order', parentId: parent!.id, access: 0 },
    ]);
    expect(plane.pages).toHaveLength(2);
    expect(drafts()[0]!.html).toContain('<h2>Steps</h2>');
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { unit_id: 'Platform', container_key: 'eng', page_id: drafts()[0]!.id, page_title: '[Auto-draft] refund-order' },
    ]);
    expect(calls()).toBe(1);
  });

  it('goes below the page for drafts that there is, whoever made it', async () => {
    const [parent] = [plane.addPage({ projectId: project.id, name: 'Auto-Drafted Skills' })];
    await learnedBy(test, SIBLINGS);
    await promote(test);
    expect(parents()).toHaveLength(1);
    expect(drafts()[0]!.parentId).toBe(parent.id);
  });

  it('gets another page for drafts where ours has been renamed, since a search would not know that one', async () => {
    const renamed = { projectId: project.id, name: 'Old drafts', externalId: 'doc:Auto-Drafted Skills', ...OURS };
    plane.addPage(renamed);
    await learnedBy(test, SIBLINGS);
    await promote(test);
    expect(parents()).toHaveLength(1);
    expect(drafts()[0]!.parentId).toBe(parents()[0]!.id);
  });

  it('gets a number where another cluster, or one whom the key may not see, holds its stamp', async () => {
    plane.addPage({ projectId: project.id, name: 'x', externalId: 'draft:refund-order', ...OURS, access: 1 });
    await learnedBy(test, SIBLINGS);
    await learnedBy(test, SIBLINGS, { name: 'other', tools: ['x', 'y', 'z'] });
    expect(await promote(test)).toEqual([]);
    expect(drafts().map(({ externalId, name }) => [externalId, name])).toEqual([
      ['draft:refund-order-2', '[Auto-draft] refund-order-2'],
      ['draft:refund-order-3', '[Auto-draft] refund-order-3'],
    ]);
  });

  it('that was made but not told of is found again, even where a person has renamed and moved it', async () => {
    plane.addPage({ projectId: project.id, name: 'Auto-Drafted Skills' });
    await learnedBy(test, SIBLINGS);
    plane.failTo(/\/pages\/$/, { method: 'POST', delayMs: Infinity, times: 1 });
    await promote(test);
    const [page] = drafts();
    Object.assign(page!, { name: 'Refunds', parentId: null });
    await published();
    expect([calls(), plane.pages.length]).toEqual([1, 2]);
    expect(await promotionsOf(test)).toMatchObject([{ page_id: page!.id, page_title: 'Refunds' }]);
  });

  it.each([
    ['the lookup', { method: 'GET', status: 500 }],
    ['the making', { method: 'POST', status: 403 }],
  ])('is put off, and never at the root, while %s of the page for drafts fails', async (_, fault) => {
    await learnedBy(test, SIBLINGS);
    plane.failTo(/\/pages\/$/, fault);
    const [left] = await promote(test);
    expect(left!.last_error).toContain('neither found nor made');
    expect([plane.pages, await states()]).toEqual([[], ['drafted']]);
    plane.fail(null);
    await promote(test);
    await published();
    expect([calls(), drafts()[0]!.parentId]).toEqual([1, parents()[0]!.id]);
  });

  it('waits for a project that the key reaches', async () => {
    await putOrganization(test, anOrganization([{ name: 'Platform', plane_project: 'OPS' }], { Platform: SIBLINGS }));
    await learnedBy(test, SIBLINGS);
    expect(await promote(test)).toMatchObject([{ status: 'dead', last_error: expect.stringContaining('OPS') }]);
    plane.addProject('OPS', [KEY]);
    await promote(test);
    expect([calls(), await states()]).toEqual([1, ['published']]);
  });

  it('is not asked for where the unit has no project', async () => {
    await putOrganization(test, anOrganization([{ name: 'Platform', plane_project: ' ' }], { Platform: SIBLINGS }));
    await learnedBy(test, SIBLINGS);
    expect(await promote(test)).toEqual([]);
    expect([calls(), plane.requests.length]).toEqual([0, 0]);
  });
});
