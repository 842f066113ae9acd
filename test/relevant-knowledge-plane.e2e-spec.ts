import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { PlaneServer } from './support/plane-server.js';
import { aPlanRequest, firstRunEnded } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';

const SHARED = 'plane_api_shared';
const OWN = 'plane_api_lead';

interface Block {
  key: string;
  text: string;
  selection_count: number;
  reason: string;
}

let test: TestApp;
let model: ScriptedModel;
let plane: PlaneServer;

const organization = (projects: string[]): object => ({
  name: 'Acme',
  knowledge: { confluence_spaces: ['IGNORED'], plane_projects: projects },
  roles: [{ name: 'support' }],
  agents: [
    { handle: 'worker', role: 'support' },
    { handle: 'lead', role: 'support', credentials: { plane: { api_key_env: 'LEAD_KEY' } } },
  ],
});

beforeAll(async () => {
  plane = await PlaneServer.start('acme');
  plane.addKey(SHARED).addKey(OWN);
  model = await ScriptedModel.start();
});
// What was looked up is remembered for minutes; a new service remembers nothing.
beforeEach(() => start([' eng', 'OPS']));
afterEach(async () => {
  await test.close();
  model.reset();
  plane.reset();
});
afterAll(async () => {
  await model.close();
  await plane.close();
});

async function start(projects: string[]): Promise<void> {
  test = await startApp({
    model,
    env: { PLANE_BASE_URL: plane.url, PLANE_WORKSPACE: 'acme', PLANE_API_KEY: SHARED, LEAD_KEY: OWN },
    config: {
      knowledge: { backend: 'plane', timeout_seconds: 2 },
      secret_env: { Acme: ['LEAD_KEY'] },
      tool_skills: { plane: { project: 'ops', parent: 'Tool Skills' } },
      organization: organization(projects),
    },
  });
  await firstRunEnded(test.http, 'refresh-tool-skills');
  plane.requests.length = 0;
}

async function blockOf(agent: string, query = 'deploy'): Promise<Block> {
  model.reply('relevant_knowledge_query', query);
  const request = aPlanRequest({ task_description: 'How do I deploy?' });
  const { body } = await test.http.post(`/agents/${agent}/plan-context`).send(request).expect(200);
  return (body as { blocks: Block[] }).blocks.find(({ key }) => key === 'relevant_knowledge')!;
}
const titlesOf = async (agent: string, query?: string): Promise<string[]> =>
  [...(await blockOf(agent, query)).text.matchAll(/^- \*\*(.*?)\*\*/gm)].map(([, title]) => title!);

describe('relevant knowledge on Plane', () => {
  it('is found in the listed projects that the user is a member of', async () => {
    const eng = plane.addProject('ENG', [SHARED, OWN]);
    const ops = plane.addProject('OPS', [OWN]);
    const hr = plane.addProject('HR', [SHARED, OWN]);
    plane.addPage({ projectId: eng.id, name: 'Deploy', html: '<p>How to  deploy</p>' });
    plane.addPage({ projectId: ops.id, name: 'Deploy ops' });
    plane.addPage({ projectId: hr.id, name: 'Deploy people' });
    const block = await blockOf('worker');
    expect(block).toMatchObject({ selection_count: 1, reason: 'selected' });
    expect(block.text).toContain('\n- **Deploy**: How to deploy\n');
    expect(await titlesOf('lead')).toEqual(['Deploy ops', 'Deploy']);
    expect(plane.searches).toEqual([
      { query: 'deploy', projects: eng.id },
      { query: 'deploy', projects: `${eng.id},${ops.id}` },
    ]);
    expect(plane.requestsTo(/\/pages\/search\/$/)[0]!.query.get('per_page')).toBe('11');
  });

  it('is nothing where no listed project is known to the user', async () => {
    const hr = plane.addProject('HR', [SHARED]);
    plane.addPage({ projectId: hr.id, name: 'Deploy people' });
    expect(await blockOf('worker')).toMatchObject({ selection_count: 0, reason: 'hint_no_match' });
    expect(plane.searches).toEqual([]);
  });

  it('is sought everywhere only without a list, by an agent with a key of its own', async () => {
    const hr = plane.addProject('HR', [SHARED, OWN]);
    plane.addPage({ projectId: hr.id, name: 'Deploy people' });
    await test.http.put('/organization').send(organization([])).expect(200);
    expect(await titlesOf('lead')).toEqual(['Deploy people']);
    expect(await blockOf('worker')).toMatchObject({ text: '', reason: 'not_configured' });
    expect(plane.searches).toEqual([{ query: 'deploy', projects: null }]);
  });

  it('is sought with fewer words until there is something', async () => {
    const eng = plane.addProject('ENG', [SHARED]);
    plane.addPage({ projectId: eng.id, name: 'Deploy freeze' });
    const many = Array.from({ length: 30 }, (_, index) => `w${index}`).join(' ');
    expect(await titlesOf('worker', `Deploy freeze deploy checkout friday ${many}`)).toEqual(['Deploy freeze']);
    const queries = plane.searches.map(({ query }) => query);
    expect(queries.map((query) => query.split(' ').length)).toEqual([16, 4, 2]);
    expect(queries[1]).toBe('Deploy freeze checkout friday');
    expect(queries[2]).toBe('Deploy freeze');
    plane.requests.length = 0;
    expect(await titlesOf('worker', 'nothing here today')).toEqual([]);
    expect(plane.searches.map(({ query }) => query)).toEqual(['nothing here today', 'nothing here']);
    plane.requests.length = 0;
    expect(await titlesOf('worker', 'nowhere')).toEqual([]);
    expect(plane.searches).toHaveLength(1);
  });

  it('never holds drafts, nor guidance for tools, nor pages without a project', async () => {
    const eng = plane.addProject('ENG', [SHARED]);
    const ops = plane.addProject('OPS', [SHARED]);
    const drafts = plane.addPage({ projectId: eng.id, name: 'Auto-Drafted Skills', html: 'deploy' });
    plane.addPage({ projectId: eng.id, name: 'Renamed deploy', parentId: drafts.id });
    plane.addPage({ projectId: eng.id, name: '[Auto-draft] deploy, published' });
    plane.addPage({ projectId: ops.id, name: '[Auto-draft] deploy, no parent known' });
    const guidance = plane.addPage({ projectId: ops.id, name: 'Tool Skills', html: 'deploy' });
    plane.addPage({ projectId: ops.id, name: 'Deploy guidance', parentId: guidance.id });
    plane.addPage({ projectId: eng.id, name: 'Tool Skills', html: 'deploy' });
    expect(await titlesOf('worker')).toEqual(['Tool Skills', '[Auto-draft] deploy, published']);
    // The guidance for tools is read from time to time too, so that its lookups are not counted.
    const lookups = (): number =>
      plane
        .requestsTo(/\/projects\/[^/]+\/pages\/$/)
        .filter(({ query }) => query.get('search') === 'Auto-Drafted Skills').length;
    expect(lookups()).toBe(2);
    await titlesOf('worker');
    expect(lookups()).toBe(2);
    plane.fail({
      status: 200,
      body: { results: [{ id: '1', name: 'Deploy', project_id: null, parent_id: null, snippet: '' }] },
    });
    expect(await blockOf('worker')).toMatchObject({ reason: 'hint_no_match' });
  });

  it('goes by the title of drafts while the page above them cannot be looked up', async () => {
    const eng = plane.addProject('ENG', [SHARED]);
    const drafts = plane.addPage({ projectId: eng.id, name: 'Auto-Drafted Skills' });
    plane.addPage({ projectId: eng.id, name: '[Auto-draft] deploy', parentId: drafts.id });
    plane.addPage({ projectId: eng.id, name: 'Deploy' });
    plane.failTo(/\/projects\/[^/]+\/pages\/$/, { status: 403, body: { detail: 'no' } });
    expect(await titlesOf('worker')).toEqual(['Deploy']);
  });

  it.each([
    ['refuses the key', { status: 401 }],
    ['fails', { status: 502, body: '<html>' }],
    ['is rate-limited for long', { status: 429, headers: { 'retry-after': '60' } }],
    ['answers prose', { status: 200, body: 'Welcome' }],
    ['says nothing', { delayMs: Infinity }],
  ])('is empty, search_failed, where Plane %s', async (_, fault) => {
    const eng = plane.addProject('ENG', [SHARED]);
    plane.addPage({ projectId: eng.id, name: 'Deploy' });
    plane.fail(fault);
    expect(await blockOf('worker')).toMatchObject({ text: '', selection_count: 0, reason: 'search_failed' });
    plane.fail(null);
    expect(await titlesOf('worker')).toEqual(['Deploy']);
  });

  it.each([
    ['an escape', 'deploy" OR projects=HR&projects='],
    ['a list of projects', 'deploy&projects=,'],
    ['5,000 characters', 'deploy '.repeat(715)],
    ['one word of 5,000', 'd'.repeat(5_000)],
    ['NUL and half a character', 'de\u0000ploy \ud800'],
    ['a backslash', 'deploy\\'],
  ])('stays in scope where the query holds %s', async (_, query) => {
    const eng = plane.addProject('ENG', [SHARED]);
    const hr = plane.addProject('HR', [SHARED]);
    plane.addPage({ projectId: hr.id, name: 'Secret', html: 'deploy OR projects' });
    expect(await blockOf('worker', query)).toMatchObject({ reason: 'hint_no_match' });
    expect(plane.searches.length).toBeGreaterThan(0);
    for (const { projects, query: sent } of plane.searches) {
      expect(projects).toBe(eng.id);
      expect(sent.length).toBeLessThanOrEqual(200);
    }
  });
});
