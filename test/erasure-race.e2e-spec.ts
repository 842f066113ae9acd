import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventRecorder } from '../src/views/telemetry/event-recorder.js';
import { startApp, type TestApp } from './support/app.js';
import { resetDatabase } from './support/database.js';
import { placesOf } from './support/every-column.js';
import { aPlanRequest, callTool, eventually, register, remember } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage, aTurn } from './support/turns.js';

const zelda = (changes: Record<string, unknown> = {}): Record<string, unknown> =>
  aMessage({ external_id: 'UXZELDA7', display_name: 'Zelda Quux', body: 'Zelda Quux prefers tea', ...changes });
const bob = (): Record<string, unknown> =>
  aMessage({ external_id: 'U9BOB', display_name: 'Bob Roe', body: 'The harbour is closed' });

let model: ScriptedModel;
let test: TestApp;
beforeAll(async () => {
  model = await ScriptedModel.start();
  test = await startApp({ model });
});
afterAll(async () => {
  await test.close();
  await model.close();
});
beforeEach(() => resetDatabase());

async function settled(): Promise<void> {
  await eventually(
    () =>
      test.database.query<{ open: number }>(
        `select count(*)::int as open from turns where reflection_status in ('pending', 'running', 'retrying')`,
      ),
    ([row]) => row!.open === 0,
  );
  await test.app.get(EventRecorder, { strict: false }).flush();
}

describe('while others write', () => {
  it('an erased person is gone with all that was accepted before the receipt, reflections under way included', async () => {
    let asked = 0;
    model.reply('persist_decider', async () => {
      asked += 1;
      await pause(40);
      return JSON.stringify({ kind: 'LONG', content: `Zelda Quux likes tea number ${asked}` });
    });
    model.reply('counterparty_profiler', async () => {
      await pause(20);
      return JSON.stringify({ traits: [{ key: 'friends', values: ['Zelda Quux'] }] });
    });
    let stopped = false;
    const posted: string[] = [];
    const writer = async (agent: string, interactions: () => unknown[]): Promise<void> => {
      while (!stopped) {
        const turn = aTurn({ agent, interactions: interactions() });
        await test.http
          .post(`/agents/${agent}/plan-context`)
          .send(aPlanRequest({ turn_id: turn.turn_id, interactions: turn.interactions as unknown[] }))
          .expect(200);
        await test.http.post('/turns').send(turn).expect(202);
        posted.push(turn.turn_id);
        await pause(5);
      }
    };
    const writers = [
      writer('support-1', () => [zelda()]),
      writer('support-1', () => [zelda(), bob()]),
      writer('support-2', () => [zelda(), bob()]),
    ];
    await eventually(
      () => asked,
      (calls) => calls >= 3,
    );
    stopped = true;
    const accepted = Promise.all(writers);
    await accepted;
    expect(posted.length).toBeGreaterThan(3);
    // Reflections are waiting and running; a turn of somebody else starts to be told of her at the same time.
    const plans = Array.from({ length: 4 }, () =>
      test.http
        .post('/agents/support-1/plan-context')
        .send(aPlanRequest({ interactions: [bob()] }))
        .expect(200)
        .then(),
    );
    const receipt = await test.http.post('/erasures').send({ platform: 'slack', external_id: 'UXZELDA7' }).expect(200);
    model.reply('persist_decider', () => 'NOOP');
    model.reply('counterparty_profiler', () => 'NOOP');
    await Promise.all(plans);
    await settled();
    expect(receipt.body).toMatchObject({ tables: { turns: posted.length } });
    for (const name of ['UXZELDA7', 'Zelda Quux'])
      expect([name, await placesOf(test.database, name)]).toEqual([name, []]);
    // What others said is learned from to the end.
    const ends = await test.database.query<{ reflection_status: string }>(
      'select distinct reflection_status from turns',
    );
    expect(ends).toEqual([{ reflection_status: 'done' }]);
  }, 90_000);

  it('posts of an erased person land before and go, or after and stay whole', async () => {
    const post = async (): Promise<{ id: string; status: number }> => {
      const turn = aTurn({ interactions: [zelda()] });
      const { status } = await test.http.post('/turns').send(turn);
      return { id: turn.turn_id, status };
    };
    const racing = Array.from({ length: 30 }, post);
    await Promise.all(racing.slice(0, 3));
    const erased = test.http.post('/erasures').send({ platform: 'slack', external_id: 'UXZELDA7' }).expect(200).then();
    const results = await Promise.all(racing);
    await erased;
    expect(results.every(({ status }) => status === 202)).toBe(true);
    const [counts] = await test.database.query<Record<string, number>>(
      `select (select count(*)::int from turns) as turns, (select count(*)::int from episodes) as episodes,
         (select count(*)::int from turn_subjects) as subjects`,
    );
    expect(new Set(Object.values(counts!)).size).toBe(1);
  }, 60_000);

  it('an erased agent is gone whole, and what comes after it is of a new one', async () => {
    model.reply('persist_decider', async () => {
      await pause(30);
      return JSON.stringify({ kind: 'LONG', content: `A lesson ${Math.random()}` });
    });
    model.reply('counterparty_profiler', () => JSON.stringify({ traits: [{ key: 'style', values: ['brief'] }] }));
    const id = await register(test.http, 'support-1');
    await remember(test.http, 'support-1', 'An old memory');
    const allowed = [200, 201, 202, 404, 503];
    const refused: number[] = [];
    const note = ({ status }: { status: number }): void => void (allowed.includes(status) || refused.push(status));
    for (let round = 0; round < 3; round++) {
      const writers = Array.from({ length: 12 }, async (_, n) => {
        note(await test.http.post('/turns').send(aTurn({ interactions: [bob()] })));
        note(await test.http.post('/agents/support-1/plan-context').send(aPlanRequest()));
        note(
          await test.http.post('/agents/support-1/diary').send({ kind: 'diary_long', content: `Memory ${round} ${n}` }),
        );
        note(
          await test.http.put(`/agents/support-1/skills/skill-${n}`).send({ description: 'Do', content: `Body ${n}` }),
        );
        await callTool(test.http, 'support-1', 'reflect_and_persist', { content: `Fact ${round} ${n}` }).catch(
          () => undefined,
        );
      });
      await pause(20);
      note(await test.http.delete('/agents/support-1'));
      await Promise.all(writers);
    }
    const last = await test.http.delete('/agents/support-1');
    expect([200, 404]).toContain(last.status);
    await pause(200);
    await test.app.get(EventRecorder, { strict: false }).flush();
    expect(refused).toEqual([]);
    const left = (await placesOf(test.database, id)).filter(
      (place) => !/(erasures|audit_log|_private_job)/.test(place),
    );
    expect(left).toEqual([]);
    expect(await test.database.query('select 1 from reflection_runs union all select 1 from turn_subjects')).toEqual(
      [],
    );
    // Jobs that were running end without a fault.
    await eventually(
      () =>
        test.database.query<{ status: string }>(`select last_error from graphile_worker.jobs where flags ? $1`, [
          `agent_id:${id}`,
        ]),
      (jobs) => jobs.length === 0,
    );
    await test.http
      .post('/turns')
      .send(aTurn({ interactions: [bob()] }))
      .expect(202);
    const { body } = await test.http.get('/agents/support-1/memory').expect(200);
    expect(body).toMatchObject({ totals: { long: 0, episodes: 1, synthesized_skills: 0 } });
  }, 90_000);
});
