import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resetDatabase } from './support/database.js';
import { basic, ConfluenceServer, type StoredPage } from './support/confluence-server.js';
import { aDraft, anOrganization } from './support/promotion.js';
import { eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { allEnded } from './support/trial.js';
import { aTurn } from './support/turns.js';

const TOOLS = ['one', 'two', 'three', 'four', 'five'];
const SIBLINGS = ['ann-bot', 'ben-bot', 'cem-bot'];

describe('a service that is killed while a draft becomes a page', () => {
  let model: ScriptedModel;
  let wiki: ConfluenceServer;
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  let directory: string;
  let service: ServiceProcess;

  const start = (): Promise<ServiceProcess> =>
    ServiceProcess.start({
      ...database.env,
      LEARNING_CONFIG: join(directory, 'learning.yaml'),
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: model.anthropicUrl,
      CONFLUENCE_BASE_URL: wiki.url,
      CONFLUENCE_USERNAME: 'bot',
      CONFLUENCE_API_TOKEN: 'token',
    });
  const calls = (): number => model.requestsOf('promotion_synthesizer').length;
  const drafts = (): StoredPage[] => wiki.pages.filter(({ title }) => title.startsWith('[Auto-draft]'));
  const posts = (): number => wiki.requestsTo(/\/content$/).filter(({ method }) => method === 'POST').length;
  const promoted = async (): Promise<unknown[]> =>
    (await service.all<{ type: string }>('/events')).filter(({ type }) => type === 'skill.promoted');

  async function crash(): Promise<void> {
    await service.end('SIGKILL');
    wiki.fail(null);
    service = await start();
  }

  /** A skill in each sibling, by one turn of as many tools as a single one needs. */
  async function learn(prefix: string): Promise<void> {
    const tools = TOOLS.map((tool) => `${prefix}-${tool}`);
    const turns = SIBLINGS.map((agent) => aTurn({ agent, tool_sequence: tools }));
    model.reply('skill_synthesizer', aDraft(`skill-${prefix}`, { body: `${prefix} `.repeat(30) }));
    await service.post('/turns/batch', { turns });
    await allEnded(service, turns);
  }

  beforeAll(async () => {
    await resetDatabase();
    model = await ScriptedModel.start();
    wiki = await ConfluenceServer.start('datacenter');
    wiki.addUser({ authorization: basic('bot', 'token'), views: ['ENG'] });
    wiki.addPage({ space: 'ENG', title: 'Auto-Drafted Skills' });
    database = await serviceDatabase();
    directory = await mkdtemp(join(tmpdir(), 'agent-learning-promotion-'));
    const organization = anOrganization([{ name: 'Platform', confluence_space: 'ENG' }], { Platform: SIBLINGS });
    const learning = { skill_synthesis: { scheduler_enabled: false } };
    await writeFile(
      join(directory, 'learning.yaml'),
      JSON.stringify({ knowledge: { backend: 'confluence', timeout_seconds: 60 }, organization, learning }),
    );
    service = await start();
  }, 120_000);

  afterAll(async () => {
    await service.end('SIGTERM');
    await model.close();
    await wiki.close();
    await database.remove();
    await rm(directory, { recursive: true });
  });

  it('between the page and its row finds the page again, asks nothing and announces it once', async () => {
    await learn('refund');
    model.reply('promotion_synthesizer', aDraft('refund-order'));
    wiki.failTo(/\/content$/, { method: 'POST', delayMs: Infinity });
    await service.post('/jobs/promote-skills', {});
    await eventually(drafts, (pages) => pages.length === 1);
    expect(await promoted()).toEqual([]);
    model.reply('promotion_synthesizer', aDraft('another-name'));
    await crash();
    const events = await patiently(promoted, (all) => all.length > 0);
    expect(events).toMatchObject([{ payload: { page_id: drafts()[0]!.id, skill_name: 'refund-order' } }]);
    await service.post('/jobs/promote-skills', {});
    await patiently(
      () => service.all<{ task: string }>('/jobs'),
      (jobs) => jobs.every(({ task }) => !task.startsWith('promote')),
    );
    expect([calls(), drafts().length, (await promoted()).length]).toEqual([1, 1, 1]);
  }, 120_000);

  it('before the page is made writes the draft that it has stored', async () => {
    await learn('cancel');
    const asked = calls();
    model.reply('promotion_synthesizer', aDraft('cancel-order'));
    wiki.failTo(/\/content$/, { method: 'POST', status: 503, delayMs: Infinity });
    const before = posts();
    await service.post('/jobs/promote-skills', {});
    await eventually(posts, (count) => count > before);
    model.reply('promotion_synthesizer', aDraft('another-name'));
    await crash();
    await patiently(promoted, (all) => all.length === 2);
    expect([
      calls(),
      drafts()
        .map(({ title }) => title)
        .at(-1),
    ]).toEqual([asked + 1, '[Auto-draft] cancel-order']);
    expect(drafts()).toHaveLength(2);
  }, 120_000);
});

/** A job of a process that died is taken up once the others know that it did. */
async function patiently<Value>(read: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  for (let more = 5; ; more -= 1) {
    const value = await eventually(read, holds).catch((error: unknown) => {
      if (more === 0) throw error;
      return undefined;
    });
    if (value !== undefined) return value;
  }
}
