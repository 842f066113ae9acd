import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { basic, ConfluenceServer } from './support/confluence-server.js';
import { PlaneServer } from './support/plane-server.js';
import { aDraft, promotionsOf } from './support/promotion.js';
import { aPlanRequest, eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { manyTurns } from './support/tau-bench.js';

const { source, turns } = manyTurns();
const HANDLES = [...new Set(turns.map(({ agent }) => agent))];
const RUNS = 5;

interface Draft {
  id: string;
  title: string;
  parent: string | null;
}

interface Backend {
  env: Record<string, string>;
  /** All pages but those above the drafts. */
  drafts(): Draft[];
  parents(): Draft[];
  move(id: string): void;
  close(): Promise<void>;
}

async function confluence(): Promise<Backend> {
  const server = await ConfluenceServer.start('cloud');
  server.addUser({ authorization: basic('bot', 'token'), views: ['ENG'] });
  const pages = (): Draft[] => server.pages.map(({ id, title, parentId: parent }) => ({ id, title, parent }));
  return {
    env: { CONFLUENCE_BASE_URL: server.url, CONFLUENCE_USERNAME: 'bot', CONFLUENCE_API_TOKEN: 'token' },
    drafts: () => pages().filter(({ title }) => title !== 'Auto-Drafted Skills'),
    parents: () => pages().filter(({ title }) => title === 'Auto-Drafted Skills'),
    move: (id) => void (server.pages.find((page) => page.id === id)!.parentId = null),
    close: () => server.close(),
  };
}

async function plane(): Promise<Backend> {
  const server = await PlaneServer.start();
  server.addProject('ENG', ['key']);
  const pages = (): Draft[] => server.pages.map(({ id, name, parentId }) => ({ id, title: name, parent: parentId }));
  return {
    env: { PLANE_BASE_URL: server.url, PLANE_WORKSPACE: server.workspace, PLANE_API_KEY: 'key' },
    drafts: () => pages().filter(({ title }) => title !== 'Auto-Drafted Skills'),
    parents: () => pages().filter(({ title }) => title === 'Auto-Drafted Skills'),
    move: (id) => void (server.pages.find((page) => page.id === id)!.parentId = null),
    close: () => server.close(),
  };
}

describe.each([
  ['confluence', confluence],
  ['plane', plane],
])(`drafts on %s from ${source}`, (backend, startBackend) => {
  let test: TestApp;
  let model: ScriptedModel;
  let server: Backend;

  beforeAll(async () => {
    model = await ScriptedModel.start();
    server = await startBackend();
    let count = 0;
    model.reply('skill_synthesizer', () => {
      count += 1;
      const body = Array.from({ length: 30 }, (_, word) => `skill${count}word${word}`).join(' ');
      return aDraft(`procedure-${count}`, { body });
    });
    let promoted = 0;
    // Every other draft has the name of the one before it.
    model.reply('promotion_synthesizer', () => aDraft(`team-procedure-${Math.ceil((promoted += 1) / 2)}`));
    model.reply('relevant_knowledge_query', 'team procedure');
    test = await startApp({
      model,
      env: server.env,
      config: {
        knowledge: { backend },
        learning: { skill_synthesis: { cluster_window_hours: 0, scheduler_enabled: false } },
        organization: {
          name: 'Acme',
          knowledge: { confluence_spaces: ['ENG'], plane_projects: ['ENG'] },
          roles: [...new Set(turns.map(({ role }) => String(role)))].map((name) => ({ name })),
          units: [{ name: 'Support', lead: HANDLES[0], confluence_space: 'ENG', plane_project: 'ENG' }],
          agents: HANDLES.map((handle) => ({
            handle,
            role: String(turns.find(({ agent }) => agent === handle)!.role),
            unit: 'Support',
          })),
        },
      },
    });
    for (let from = 0; from < turns.length; from += 50) {
      await test.http
        .post('/turns/batch')
        .send({ turns: turns.slice(from, from + 50), reflect: false })
        .expect(200);
    }
  }, 120_000);

  afterAll(async () => {
    await test.close();
    await model.close();
    await server.close();
  });

  async function run(task: string): Promise<void> {
    await test.http.post(`/jobs/${task}`).expect(202);
    for (let more = 5; ; more -= 1) {
      const total = async (): Promise<number> => ((await test.http.get('/jobs')).body as { total: number }).total;
      const idle = await eventually(total, (left) => left === 0).catch((error: unknown) => {
        if (more === 0) throw error;
        return undefined;
      });
      if (idle !== undefined) return;
    }
  }

  async function found(): Promise<string[]> {
    const request = aPlanRequest({ task_description: 'Which team procedure fits?', role: undefined });
    const { body } = await test.http.post(`/agents/${HANDLES[0]}/plan-context`).send(request).expect(200);
    const { text } = (body as { blocks: { key: string; text: string }[] }).blocks.find(
      ({ key }) => key === 'relevant_knowledge',
    )!;
    return [...text.matchAll(/^- \*\*(.*?)\*\*/gm)].map(([, title]) => title!);
  }

  it('are one for each converging cluster, below their page, however often the jobs run', async () => {
    const asked: number[] = [];
    for (let time = 0; time < RUNS; time++) {
      await run('cluster-skills');
      await run('promote-skills');
      asked.push(model.requestsOf('promotion_synthesizer').length);
    }
    const promotions = await promotionsOf(test);
    expect(promotions.length).toBeGreaterThan(0);
    expect(new Set(promotions.map(({ state }) => state))).toEqual(new Set(['published']));
    const [parent] = server.parents();
    expect(server.parents()).toHaveLength(1);
    expect(
      server
        .drafts()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(promotions.map(({ page_id }) => page_id).sort());
    expect(new Set(server.drafts().map(({ parent: above }) => above))).toEqual(new Set([parent!.id]));
    expect(server.drafts().filter(({ title }) => !title.startsWith('[Auto-draft] team-procedure-'))).toEqual([]);
    expect(asked).toEqual(Array.from({ length: RUNS }, () => promotions.length));
    const members = promotions.flatMap(({ member_skill_ids: ids }) => ids);
    expect(new Set(members).size).toBe(members.length);
  }, 240_000);

  it('are found by no search until a person has moved one out', async () => {
    expect(await found()).toEqual([]);
    const [draft] = server.drafts();
    server.move(draft!.id);
    expect(await found()).toEqual([draft!.title]);
  }, 60_000);
});
