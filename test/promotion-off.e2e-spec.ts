import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp } from './support/app.js';
import { basic, ConfluenceServer } from './support/confluence-server.js';
import { aDraft, anOrganization, learnedBy, promote, promotionsOf, putOrganization } from './support/promotion.js';
import { ScriptedModel } from './support/scripted-model.js';

const SIBLINGS = ['ann-bot', 'ben-bot', 'cem-bot'];

describe('promotion', () => {
  let model: ScriptedModel;
  let wiki: ConfluenceServer;

  beforeAll(async () => {
    wiki = await ConfluenceServer.start('cloud');
    wiki.addUser({ authorization: basic('bot', 'token'), views: ['ENG'] });
    model = await ScriptedModel.start();
    model.reply('promotion_synthesizer', aDraft('refund-order'));
  });
  afterAll(async () => {
    await model.close();
    await wiki.close();
  });

  it.each([
    ['does nothing where it is switched off', { skill_promotion: { enabled: false } }, 'confluence', 0],
    ['does nothing without a knowledge base', {}, 'none', 0],
    ['needs as many siblings as are configured', { skill_promotion: { min_sibling_count: 4 } }, 'confluence', 0],
    ['drafts where it is on', {}, 'confluence', 1],
  ])('%s', async (_, learning, backend, drafts) => {
    const test = await startApp({
      model,
      env: { CONFLUENCE_BASE_URL: wiki.url, CONFLUENCE_USERNAME: 'bot', CONFLUENCE_API_TOKEN: 'token' },
      config: {
        knowledge: { backend },
        organization: { name: 'Acme' },
        learning: { skill_synthesis: { scheduler_enabled: false }, ...learning },
      },
    });
    try {
      const unit = { name: 'Platform', confluence_space: 'ENG' };
      await putOrganization(test, anOrganization([unit], { Platform: SIBLINGS }));
      await learnedBy(test, SIBLINGS);
      expect(await promote(test)).toEqual([]);
      expect([model.requestsOf('promotion_synthesizer').length, await promotionsOf(test)]).toMatchObject([
        drafts,
        Array.from({ length: drafts }, () => ({ state: 'published' })),
      ]);
      if (drafts === 0) expect(wiki.requests).toEqual([]);
    } finally {
      await test.close();
    }
  });
});
