import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PlaneClient } from '../src/memories/knowledge/plane.client.js';
import { VendorError } from '../src/memories/knowledge/vendor-http.js';
import { PlaneServer } from './support/plane-server.js';

const KEY = 'plane_api_secret77';
let plane: PlaneServer;

beforeAll(async () => {
  plane = await PlaneServer.start('acme');
});
afterEach(() => plane.reset());
afterAll(() => plane.close());

const clientOf = (apiKey = KEY, workspace = 'acme'): PlaneClient =>
  new PlaneClient({ baseUrl: plane.url, workspace, apiKey, timeoutMs: 5_000 });

const faultOf = async (call: Promise<unknown>): Promise<VendorError> => {
  const error: unknown = await call.then(() => null).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(VendorError);
  expect(String(error)).not.toContain(KEY);
  return error as VendorError;
};

describe('the Plane client', () => {
  it('lists the projects of its user, all of them', async () => {
    for (let index = 0; index < 130; index += 1) plane.addProject(`P${index}`, [KEY]);
    plane.addProject('OTHER', ['another']);
    const projects = await clientOf().projects();
    expect(projects).toHaveLength(130);
    expect(new Set(projects.map(({ identifier }) => identifier)).size).toBe(130);
  });

  it('searches pages within projects', async () => {
    const eng = plane.addProject('ENG', [KEY]);
    const ops = plane.addProject('OPS', [KEY]);
    const foreign = plane.addProject('HR', ['another']);
    const parent = plane.addPage({ projectId: eng.id, name: 'Runbooks' });
    plane.addPage({ projectId: eng.id, name: 'Deploy', html: '<p>roll  back</p>', parentId: parent.id });
    plane.addPage({ projectId: ops.id, name: 'Deploy ops' });
    plane.addPage({ projectId: foreign.id, name: 'Deploy people' });
    plane.addPage({ projectId: eng.id, name: 'Deploy in private', access: 1, owner: 'another' });
    expect(await clientOf().searchPages({ query: 'deploy', projectIds: [eng.id, foreign.id], limit: 11 })).toEqual([
      { id: expect.any(String), title: 'Deploy', projectId: eng.id, parentId: parent.id, snippet: 'roll back' },
    ]);
    const all = await clientOf().searchPages({ query: 'deploy', limit: 1_000 });
    expect(all.map(({ title }) => title)).toEqual(['Deploy ops', 'Deploy']);
    expect(await faultOf(clientOf().searchPages({ query: ' ', limit: 1 }))).toMatchObject({ status: 400 });
  });

  it('lists, reads and makes pages, and tells a conflict', async () => {
    const eng = plane.addProject('ENG', [KEY]);
    const parent = plane.addPage({ projectId: eng.id, name: 'Drafts' });
    for (let index = 0; index < 110; index += 1) plane.addPage({ projectId: eng.id, name: `Page ${index}` });
    const draft = {
      projectId: eng.id,
      title: 'Draft',
      body: '<p>Body</p>',
      parentId: parent.id,
      externalId: 'draft:one',
      externalSource: 'agent-learning',
    };
    const made = await clientOf().createPage(draft);
    expect(made).toEqual({
      id: expect.any(String),
      title: 'Draft',
      parentId: parent.id,
      externalId: 'draft:one',
      externalSource: 'agent-learning',
    });
    expect(plane.pages.at(-1)).toMatchObject({ access: 0, owner: KEY });
    expect(await clientOf().pages({ projectId: eng.id })).toHaveLength(112);
    expect(await clientOf().pages({ projectId: eng.id, search: 'draft' })).toHaveLength(2);
    expect(await clientOf().page({ projectId: eng.id, pageId: made.id })).toEqual({ ...made, body: '<p>Body</p>' });
    const conflict = await faultOf(clientOf().createPage(draft));
    expect(conflict).toMatchObject({ fault: 'refused', status: 409, body: { id: made.id } });
    const orphan = clientOf().createPage({ ...draft, externalId: 'other', parentId: 'nowhere' });
    expect(await faultOf(orphan)).toMatchObject({ fault: 'refused', status: 400 });
    const missing = clientOf().page({ projectId: eng.id, pageId: 'nowhere' });
    expect(await faultOf(missing)).toMatchObject({ fault: 'refused', status: 404 });
  });

  it('is refused where it is no member, or nobody', async () => {
    const hr = plane.addProject('HR', ['another']);
    plane.addKey(KEY);
    expect(await faultOf(clientOf().pages({ projectId: hr.id }))).toMatchObject({ fault: 'refused', status: 403 });
    expect(await faultOf(clientOf('nobody').projects())).toMatchObject({ fault: 'refused', status: 401 });
    expect(await faultOf(clientOf(KEY, 'elsewhere').projects())).toMatchObject({ fault: 'refused', status: 404 });
  });

  it('reads rubbish as far as it can be read', async () => {
    const results = [null, 'x', { id: 'a', name: 'N\u0000', project_id: 7, parent_id: null, snippet: ['x'] }];
    plane.fail({ status: 200, body: { results, next_page_results: 'yes', next_cursor: 9 } });
    expect(await clientOf().searchPages({ query: 'x', limit: 1 })).toEqual([
      { id: 'a', title: 'N\uFFFD', projectId: '7', parentId: null, snippet: '' },
    ]);
    plane.fail({ status: 200, body: [{ id: 'a', identifier: ' eng ' }] });
    expect(await clientOf().projects()).toEqual([{ id: 'a', identifier: 'ENG', name: ' eng ' }]);
    plane.fail({ status: 200, body: { detail: 'hello' } });
    expect(await faultOf(clientOf().projects())).toMatchObject({ fault: 'rubbish' });
    plane.fail({ status: 200, body: { results: [], next_page_results: true, next_cursor: 'same' } });
    expect(await clientOf().projects()).toEqual([]);
  });
});
