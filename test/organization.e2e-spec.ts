import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { aTurn } from './support/turns.js';

const ROOT = { authorization: 'Bearer root-key' };

const acme = {
  name: 'Acme',
  auto_register: true,
  daily_token_budget: 9_007_199_254_740_991,
  knowledge: { confluence_spaces: ['ENG'], plane_projects: ['OPS'] },
  roles: [
    { name: 'Lead', learning_enabled: false, llm: ['main'], llm_auxiliary: ['default', 'spare'], max_concurrent: 2 },
    { name: 'Worker', learning_enabled: null, llm: [], llm_auxiliary: [], max_concurrent: null },
  ],
  units: [
    { name: 'Platform', parent: null, lead: 'lead', confluence_space: 'ENG', plane_project: null },
    { name: 'Storage', parent: 'Platform', lead: 'bob', confluence_space: null, plane_project: 'OPS' },
  ],
  agents: [
    {
      handle: 'lead',
      role: 'Lead',
      unit: 'Platform',
      daily_token_budget: 5_000,
      credentials: {
        confluence: { username_env: 'LEAD_USER', api_token_env: 'LEAD_TOKEN' },
        plane: { api_key_env: 'LEAD_PLANE' },
      },
    },
    { handle: 'worker-1', role: 'Worker', unit: 'Storage', daily_token_budget: null, credentials: {} },
    { handle: 'worker-2', role: 'Worker', unit: null, daily_token_budget: null, credentials: {} },
  ],
  people: [
    { handle: 'bob', display_name: 'Bob Roe', identities: [{ platform: 'slack', external_id: 'U1' }] },
    { handle: 'eve', display_name: null, identities: [] },
  ],
};

let test: TestApp;
beforeAll(async () => {
  test = await startApp({
    env: { ADMIN_API_KEY: 'root-key' },
    config: {
      organization: acme,
      secret_env: { Acme: ['LEAD_USER', 'LEAD_TOKEN', 'LEAD_PLANE'], Other: ['OTHER_TOKEN'] },
    },
  });
  test.http.set(ROOT);
});
afterAll(() => test.close());

const put = (document: unknown): ReturnType<typeof test.http.put> =>
  test.http.put('/organization').send(document as object);
const get = async (): Promise<unknown> => (await test.http.get('/organization').expect(200)).body;

async function rows(): Promise<unknown> {
  const tables = ['roles', 'units', 'agents', 'people'].map((table) =>
    test.database.query(`select * from ${table} order by ${table === 'agents' ? 'id' : '1, 2'}`),
  );
  const [organizations] = await Promise.all([
    test.database.query(`select id, name, auto_register, daily_token_budget, knowledge, created_at from organizations`),
  ]);
  return [organizations, ...(await Promise.all(tables))];
}

describe('the document of learning.yaml', () => {
  it('seeds the organisation, once', async () => {
    expect(await get()).toEqual(acme);
    await put({ ...acme, name: 'Acme Ltd', agents: [], units: [] }).expect(200);
    expect(await get()).toMatchObject({ name: 'Acme Ltd', agents: [] });
    await put(acme).expect(200);
  });
});

describe('PUT of an organisation', () => {
  beforeEach(async () => {
    await put(acme).expect(200);
  });

  it('of what GET answered changes nothing', async () => {
    const before = await rows();
    const document = await get();
    expect(document).toEqual(acme);
    expect((await put(document).expect(200)).body).toEqual(document);
    expect(await rows()).toEqual(before);
  });

  it('replaces the whole, with defaults for what is left out', async () => {
    await put({ name: 'Acme', roles: [{ name: 'Solo', llm_auxiliary: 'spare' }] }).expect(200);
    expect(await get()).toEqual({
      name: 'Acme',
      auto_register: true,
      daily_token_budget: null,
      knowledge: { confluence_spaces: [], plane_projects: [] },
      roles: [{ name: 'Solo', learning_enabled: null, llm: [], llm_auxiliary: ['spare'], max_concurrent: null }],
      units: [],
      agents: [],
      people: [],
    });
  });

  it('that is wrong names each problem at once, and changes nothing', async () => {
    const before = await rows();
    const { errors } = expectProblem(
      await put({
        name: 'Acme',
        roles: [{ name: 'Lead' }, { name: 'Lead' }],
        units: [
          { name: 'A', parent: 'C' },
          { name: 'B', parent: 'A' },
          { name: 'C', parent: 'B' },
          { name: 'D', parent: 'nowhere', lead: 'nobody' },
          { name: 'E', parent: 'E' },
          { name: 'F', parent: 'A' },
          { name: 'D' },
        ],
        agents: [
          { handle: 'x', role: 'Lead' },
          { handle: 'x', role: 'Lead' },
          { handle: 'y', role: 'Ghost', unit: 'Void' },
        ],
        people: [
          { handle: 'y', identities: [{ platform: 'slack', external_id: 'U1' }] },
          { handle: 'z', identities: [{ platform: 'slack', external_id: 'U1' }] },
        ],
      }),
      422,
      'request.invalid',
    );
    expect(errors!.map(({ path }) => path).sort()).toEqual(
      [
        'roles.1.name',
        'units.0.parent',
        'units.1.parent',
        'units.2.parent',
        'units.3.parent',
        'units.3.lead',
        'units.4.parent',
        'units.6.name',
        'agents.1.handle',
        'agents.2.role',
        'agents.2.unit',
        'people.0.handle',
        'people.1.identities.0',
      ].sort(),
    );
    const said = errors!.map(({ message }) => message).join('\n');
    for (const name of ['Lead', 'nowhere', 'nobody', 'Ghost', 'Void', 'slack:U1']) expect(said).toContain(name);
    expect(await rows()).toEqual(before);
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['auto_register', { auto_register: 'yes' }],
    ['daily_token_budget', { daily_token_budget: -1 }],
    ['daily_token_budget', { daily_token_budget: 1.5 }],
    ['daily_token_budget', { daily_token_budget: 1e300 }],
    ['knowledge', { knowledge: [] }],
    ['knowledge.spaces', { knowledge: { spaces: [] } }],
    ['roles', { roles: {} }],
    ['roles', { roles: [[{ name: 'x' }]] }],
    ['roles.0.max_concurrent', { roles: [{ name: 'Lead', max_concurrent: 0 }], agents: [] }],
    ['roles.0.colour', { roles: [{ name: 'Lead', colour: 'red' }], agents: [] }],
    ['units.0.name', { units: [{}] }],
    ['agents.0.handle', { agents: [{ handle: '', role: 'Lead' }] }],
    ['agents.0.handle', { agents: [{ handle: 'a\nb', role: 'Lead' }] }],
    ['agents.0.handle', { agents: [{ handle: 'x'.repeat(129), role: 'Lead' }] }],
    ['agents.0.handle', { agents: [{ handle: '00000000-0000-4000-8000-000000000000', role: 'Lead' }] }],
    [
      'agents.0.credentials.confluence.password',
      { agents: [{ handle: 'x', role: 'Lead', credentials: { confluence: { password: 'p' } } }] },
    ],
    [
      'agents.0.credentials.plane.api_key_env',
      { agents: [{ handle: 'x', role: 'Lead', credentials: { plane: { api_key_env: 'not a name' } } }] },
    ],
    ['people.0.identities.0.external_id', { people: [{ handle: 'p', identities: [{ platform: 'slack' }] }] }],
  ])('with a wrong %s is refused by that path', async (path, change) => {
    const { errors } = expectProblem(await put({ ...acme, ...change }), 422, 'request.invalid');
    expect(errors!.map((error) => error.path)).toEqual([path]);
  });

  it('may name no secret but those that learning.yaml lists for it', async () => {
    const withSecret = (name: string): object => ({
      ...acme,
      agents: [{ handle: 'lead', role: 'Lead', credentials: { confluence: { api_token_env: name } } }],
    });
    const other = await test.http.post('/api-keys').send({ name: 'o', scopes: ['admin'], organization: 'Other' });
    const asOther = { authorization: `Bearer ${(other.body as { key: string }).key}` };
    const path = 'agents.0.credentials.confluence.api_token_env';
    for (const name of ['OTHER_TOKEN', 'ADMIN_API_KEY', 'DATABASE_URL', 'PATH', 'lead_token']) {
      const { errors } = expectProblem(await put(withSecret(name)), 422, 'request.invalid');
      expect(errors).toEqual([{ path, message: expect.stringContaining(name) }]);
    }
    await put(withSecret('LEAD_TOKEN')).expect(200);
    for (const name of ['Other', 'Somebody']) {
      const stolen = await put({ ...withSecret('LEAD_TOKEN'), name }).set(asOther);
      expectProblem(stolen, 422, 'request.invalid');
    }
    await put({ ...withSecret('OTHER_TOKEN'), name: 'Other' })
      .set(asOther)
      .expect(200);
  });

  it("does not take another organisation's name, present or first", async () => {
    const other = await test.http.post('/api-keys').send({ name: 'o', scopes: ['admin'], organization: 'Other' });
    const asOther = { authorization: `Bearer ${(other.body as { key: string }).key}` };
    expectProblem(await put({ name: 'Acme' }).set(asOther), 409, 'organization.name_taken');
    await put({ ...acme, name: 'Renamed' }).expect(200);
    for (const name of ['Renamed', 'Acme']) {
      expectProblem(await put({ name }).set(asOther), 409, 'organization.name_taken');
    }
    await put(acme).expect(200);
    await put({ name: 'Renamed' }).set(asOther).expect(200);
    expectProblem(await put({ ...acme, name: 'Renamed' }), 409, 'organization.name_taken');
    await put({ name: 'Other' }).set(asOther).expect(200);
  });

  it('at once with others leaves one of them whole', async () => {
    const documents = Array.from({ length: 6 }, (_, index) => ({
      ...acme,
      agents: acme.agents.map((agent) => ({ ...agent, daily_token_budget: index })),
      people: [{ handle: `person-${index}`, display_name: null, identities: [] }],
      units: [],
    })).map((document) => ({ ...document, agents: document.agents.map((agent) => ({ ...agent, unit: null })) }));
    const turns = Array.from({ length: 6 }, (_, index) => aTurn({ agent: `guest-${index}`, role: 'Guest' }));
    const answers = await Promise.all([
      ...documents.map((document) => put(document)),
      ...turns.map((turn) => test.http.post('/turns').send(turn)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(6).fill(200), ...Array<number>(6).fill(202)]);
    const { people, agents } = (await get()) as typeof acme;
    expect(people).toHaveLength(1);
    const winner = Number(people[0]!.handle.slice('person-'.length));
    expect(agents.filter(({ role }) => role !== 'Guest').map((agent) => agent.daily_token_budget)).toEqual([
      winner,
      winner,
      winner,
    ]);
  });
});

describe('an organisation of learning.yaml', () => {
  it('is there before the first request', async () => {
    const seeded = await startApp({
      config: {
        organization: {
          name: 'Seeded',
          auto_register: false,
          roles: [{ name: 'support' }],
          agents: [{ handle: 'support-1', role: 'support' }],
        },
      },
    });
    try {
      await seeded.http
        .post('/turns')
        .send(aTurn({ agent: 'support-1' }))
        .expect(202);
      await seeded.http
        .post('/turns')
        .send(aTurn({ agent: 'stranger' }))
        .expect(404);
    } finally {
      await seeded.close();
    }
  });
});

describe('an agent that is no longer listed', () => {
  const isActive = async (handle: string): Promise<boolean | undefined> => {
    const { body } = (await test.http.get('/agents?limit=200')) as {
      body: { items: { handle: string; active: boolean }[] };
    };
    return body.items.find((agent) => agent.handle === handle)?.active;
  };
  const agentId = async (handle: string): Promise<string> =>
    ((await test.http.get(`/agents/${handle}/memory`)).body as { agent_id: string }).agent_id;

  it('keeps its memories, and is active again once it is listed', async () => {
    await put(acme).expect(200);
    await test.http.post('/agents/worker-1/diary').send({ kind: 'diary_long', content: 'Kept.' }).expect(201);
    const id = await agentId('worker-1');
    await put({ ...acme, agents: [acme.agents[0]] }).expect(200);
    expect(await isActive('worker-1')).toBe(false);
    const { body } = (await test.http.get('/agents/worker-1/memory').expect(200)) as {
      body: { totals: { long: number } };
    };
    expect(body.totals.long).toBe(1);
    await put(acme).expect(200);
    expect(await isActive('worker-1')).toBe(true);
    expect(await agentId('worker-1')).toBe(id);
  });

  it.each(['handle', 'id'])('is active again once it posts a turn, named by its %s', async (by) => {
    await put(acme).expect(200);
    const id = await agentId('worker-2');
    await put({ ...acme, agents: [acme.agents[0]] }).expect(200);
    const turn = aTurn({ agent: by === 'id' ? id : 'worker-2', role: 'Another' });
    await test.http.post('/turns').send(turn).expect(202);
    expect(await isActive('worker-2')).toBe(true);
    expect(await agentId('worker-2')).toBe(id);
    const { body } = (await test.http.get(`/turns/${turn.turn_id}`)) as { body: { agent: string } };
    expect(body.agent).toBe('worker-2');
    expect((await get()) as typeof acme).toMatchObject({
      agents: expect.arrayContaining([expect.objectContaining({ handle: 'worker-2', role: 'Worker' })]),
    });
  });

  it('is answered a plan context and stays inactive', async () => {
    await put({ ...acme, agents: [acme.agents[0]] }).expect(200);
    const context = { turn_id: aTurn().turn_id, role: 'Worker', task_description: 'x' };
    await test.http.post('/agents/worker-1/plan-context').send(context).expect(200);
    expect(await isActive('worker-1')).toBe(false);
  });

  it('posts nothing where auto_register is false, and neither does an unknown one', async () => {
    await put({ ...acme, auto_register: false, agents: [acme.agents[0]] }).expect(200);
    for (const agent of ['worker-1', 'stranger']) {
      expectProblem(await test.http.post('/turns').send(aTurn({ agent, role: 'Worker' })), 404, 'agent.not_found');
    }
    const context = { turn_id: aTurn().turn_id, role: 'Worker', task_description: 'x' };
    expectProblem(await test.http.post('/agents/stranger/plan-context').send(context), 404, 'agent.not_found');
    const { body } = (await test.http
      .post('/turns/batch')
      .send({ turns: [aTurn({ agent: 'stranger' }), aTurn({ agent: 'lead' })] })) as {
      body: { items: { status: string; code?: string }[] };
    };
    expect(body.items).toMatchObject([{ status: 'rejected', code: 'agent.not_found' }, { status: 'accepted' }]);
    expect(await isActive('stranger')).toBeUndefined();
    expect(await isActive('worker-1')).toBe(false);
  });
});

describe('GET /agents', () => {
  it('shows the agents of a role or a unit', async () => {
    await put(acme).expect(200);
    await test.http
      .post('/turns')
      .send(aTurn({ agent: 'lead', ended_at: '2026-11-02T09:05:00Z' }))
      .expect(202);
    const handles = async (query: string): Promise<string[]> => {
      const { body } = (await test.http.get(`/agents?${query}`).expect(200)) as {
        body: { items: { handle: string }[]; total: number };
      };
      expect(body.total).toBe(body.items.length);
      return body.items.map(({ handle }) => handle).sort();
    };
    expect(await handles('unit=Storage')).toEqual(['worker-1']);
    expect(await handles('role=Worker&unit=Storage')).toEqual(['worker-1']);
    expect(await handles('role=Lead')).toEqual(['lead']);
    expect(await handles('role=Le%25')).toEqual([]);
    const { body } = (await test.http.get('/agents?role=Lead')) as { body: { items: unknown[] } };
    expect(body.items).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        handle: 'lead',
        role: 'Lead',
        unit: 'Platform',
        active: true,
        last_turn_at: '2026-11-02T09:05:00.000Z',
      },
    ]);
  });
});
