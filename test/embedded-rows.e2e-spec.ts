import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EmbeddedTables, type UnembeddedRow } from '../src/platform/embeddings/reembedding.js';
import { startApp, type TestApp } from './support/app.js';
import { aTurn } from './support/turns.js';

const MODELS = ['a', 'm', 'z', null, 'a', null, 'z', 'm', null, 'a'];

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  for (let index = 0; index < MODELS.length; index++) {
    const turn = aTurn({ agent: 'worker', task_description: `Task ${index}` });
    await test.http.post('/turns').send(turn).expect(202);
    await test.reflected(turn.turn_id);
    const entry = { kind: 'diary_long', content: `Note ${index}` };
    await test.http.post('/agents/worker/diary').send(entry).expect(201);
  }
  for (const table of ['episodes', 'agent_diary']) {
    await test.database.query(
      `update ${table} set embedding_model = given.model
       from (select id, $1::jsonb ->> (row_number() over (order by id) - 1)::int as model from ${table}) given
       where given.id = ${table}.id`,
      [JSON.stringify(MODELS)],
    );
  }
});
afterAll(() => test.close());

const tableOf = (name: string) =>
  test.app
    .get(EmbeddedTables, { strict: false })
    .all()
    .find(({ table }) => table === name)!;

describe.each(['episodes', 'agent_diary'])('rows of %s without a vector of the model', (name) => {
  it.each(['m', 'a', 'z', '0', 'zz'])('are walked once each, in steps of any size (%s)', async (model) => {
    const rows = await test.database.query<{ id: string; embedding_model: string | null }>(
      `select id, embedding_model from ${name}`,
    );
    expect(rows).toHaveLength(MODELS.length);
    const expected = rows.filter((row) => row.embedding_model !== model).map(({ id }) => id);
    for (const limit of [1, 2, 3, 64]) {
      const walked: string[] = [];
      let last: UnembeddedRow | undefined;
      do {
        const step = await tableOf(name).missing(model, limit, last);
        expect(step.length).toBeLessThanOrEqual(limit);
        walked.push(...step.map(({ id }) => id));
        last = step.at(-1);
      } while (last);
      expect(walked).toHaveLength(expected.length);
      expect([...walked].sort()).toEqual([...expected].sort());
    }
  });

  it('are read off an index, in its order', async () => {
    const query = jest.spyOn(test.database, 'query');
    const [first] = await tableOf(name).missing('m', 1);
    await tableOf(name).missing('m', 64, first);
    await tableOf(name).missing('m', 64, { ...first!, embedding_model: null });
    const asked = query.mock.calls.filter(([sql]) => sql.includes(name));
    query.mockRestore();
    expect(asked).toHaveLength(5);
    for (const [sql, parameters] of asked) {
      const plan = await test.database.transaction(async () => {
        // The tables are small: a scan would be cheaper.
        await test.database.query('set local enable_seqscan = off');
        await test.database.query('set local enable_bitmapscan = off');
        return test.database.query<Record<string, string>>(`explain ${sql}`, parameters);
      });
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(text).toContain(`${name}_embedding_model`);
      expect(text).toMatch(/Index Cond: /);
      // "Sort Key" of a merge of chunks is no sort.
      expect(text).not.toMatch(/^\s*(-> +)?(Incremental )?Sort {2}\(/m);
    }
  });
});
