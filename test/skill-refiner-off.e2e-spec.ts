import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { register } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { skillOf, synthesized } from './support/skills.js';
import { aTurn } from './support/turns.js';

let model: ScriptedModel;
beforeAll(async () => {
  model = await ScriptedModel.start();
  model.reply('skill_refiner', '{"note": "Gift cards have to be refunded by hand."}');
});
afterAll(() => model.close());

describe.each([
  ['switched off', { skill_refinement: { enabled: false } }, true, ['disabled', 'disabled']],
  ['off after turns that were done', { skill_refinement: { auto_refine_on_success: false } }, true, ['disabled', null]],
  ['off after turns that failed', { skill_refinement: { auto_refine_on_failure: false } }, true, [null, 'disabled']],
  ['without a model', {}, false, ['no_model', 'no_model']],
])('a refiner that is %s', (_, learning, withModel, reasons) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ config: { learning }, ...(withModel ? { model } : {}) });
  });
  afterEach(() => test.close());

  it('leaves the skill alone and counts the turns all the same', async () => {
    await register(test.http, 'ann');
    await synthesized(test, 'ann', 'refund');
    const written: boolean[] = [];
    for (const [index, review_outcome] of ['done', 'failed'].entries()) {
      const before = await skillOf(test.http, 'ann', 'refund');
      const turn = aTurn({ agent: 'ann', skills_used: ['refund'], review_outcome });
      await test.http.post('/turns').send(turn).expect(202);
      const { reflection } = await test.reflected(turn.turn_id);
      const reason = reasons[index]!;
      expect(reflection.workers).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            worker: 'skill_refiner',
            status: reason === null ? 'done' : 'skipped',
            reason,
          }),
        ]),
      );
      written.push((await skillOf(test.http, 'ann', 'refund')).version > before.version);
    }
    expect(written).toEqual(reasons.map((reason) => reason === null));
    expect(await skillOf(test.http, 'ann', 'refund')).toMatchObject({ done_count: 1, failed_count: 1 });
  });
});
