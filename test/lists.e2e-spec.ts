import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { addressOf, servedRoutes } from './support/routes.js';
import { aTurn } from './support/turns.js';

const COUNT = 1_137;
/** Three rows share each instant, so that the id has to decide. */
const AT = `timestamptz '2026-10-01T00:00:00Z' + ((i / 3) || ' milliseconds')::interval`;
const ID = `gen_random_uuid()`;

interface Page {
  items: { id: string }[];
  next_cursor: string | null;
  total: number;
}

let test: TestApp;
let agentId: string;
let orgId: string;
beforeAll(async () => {
  test = await startApp({ config: { learning: { episode_lifecycle: { max_raw_episodes_per_agent: 0 } } } });
  await test.http
    .post('/turns')
    .send(aTurn({ agent: 'owner' }))
    .expect(202);
  const [agent] = await test.database.query<{ id: string; org_id: string }>(`select id, org_id from agents`);
  agentId = agent!.id;
  orgId = agent!.org_id;
});
afterAll(() => test.close());

const page = async (path: string): Promise<Page> => (await test.http.get(path).expect(200)).body as Page;

/** All pages; `between` runs after each, with its number. */
async function walk(path: string, limit: number, between: (number: number) => Promise<unknown>): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const next: Page = await page(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${query}`);
    pages.push(next);
    cursor = next.next_cursor;
    if (cursor !== null) await between(pages.length);
  } while (cursor !== null);
  return pages;
}

const lists: { name: string; path: string; fill: () => Promise<unknown>; add: () => Promise<unknown>; own: number }[] =
  [
    {
      name: 'agents',
      path: '/agents',
      own: 1,
      fill: () =>
        test.database.query(
          `insert into agents (id, org_id, handle, role, active, credentials, created_at)
         select ${ID}, $1, 'filled-' || i, 'support', true, '{}', ${AT} from generate_series(1, ${COUNT}) i`,
          [orgId],
        ),
      add: () =>
        test.http
          .post('/turns')
          .send(aTurn({ agent: `new-${randomUUID().slice(0, 8)}` }))
          .expect(202),
    },
    {
      name: 'memories',
      path: '/agents/owner/diary',
      own: 0,
      fill: () =>
        test.database.query(
          `insert into agent_diary (id, org_id, agent_id, kind, content, content_hash, source, metadata, observed_at,
           source_turn_ids, live, retrieval_count, search, search_length, created_at, updated_at)
         select ${ID}, $1, $2, 'diary_long', 'memory ' || i, 'hash ' || i, 'import', '{}', ${AT}, '[]', true, 0, '', 0,
           ${AT}, ${AT}
         from generate_series(1, ${COUNT}) i`,
          [orgId, agentId],
        ),
      add: () =>
        test.http
          .post('/agents/owner/diary')
          .send({ kind: 'diary_long', content: `Note ${randomUUID()}` })
          .expect(201),
    },
    {
      name: 'episodes',
      path: '/agents/owner/episodes',
      own: 1,
      fill: () =>
        test.database.query(
          `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, turn_id, kind, count, task_summary,
           plan_summary, plan_decision, engaged, tool_sequence, skills_used, review_outcome, ended_at, duration_ms, work_key,
           subjects_involved, exemplar_turn_ids, is_exemplar, source_turn_ids, search, search_length, created_at)
         select ${ID}, ${AT}, $1, $2, 'owner', 'support', ${ID}, 'raw', 1, 'task ' || i, '', 'plan', true, '[]', '[]', 'done',
           ${AT}, 0, '', '[]', '[]', false, '[]', '', 0, ${AT} from generate_series(1, ${COUNT}) i`,
          [orgId, agentId],
        ),
      add: () =>
        test.http
          .post('/turns')
          .send(aTurn({ agent: 'owner' }))
          .expect(202),
    },
    {
      name: 'API keys',
      path: '/api-keys',
      own: 0,
      fill: () =>
        test.database.query(
          `insert into api_keys (id, org_id, name, key_hash, scopes, created_at)
         select ${ID}, $1, 'key ' || i, 'hash ' || i, '["read"]', ${AT} from generate_series(1, ${COUNT}) i`,
          [orgId],
        ),
      add: () =>
        test.http
          .post('/api-keys')
          .send({ name: 'new', scopes: ['read'] })
          .expect(201),
    },
    {
      name: 'recommendations',
      path: '/agents/owner/doc-recommendations',
      own: 0,
      fill: () => fillRecommendations(COUNT, AT),
      add: () => fillRecommendations(1, 'now()'),
    },
    {
      name: 'quarantined writes',
      path: '/quarantine',
      own: 0,
      fill: () => fillQuarantine(COUNT, AT),
      add: () => fillQuarantine(1, 'now()'),
    },
  ];

function fillRecommendations(count: number, at: string): Promise<unknown> {
  return test.database.query(
    `insert into doc_recommendations (id, org_id, agent_id, content, source_turn_ids, status, created_at)
     select ${ID}, $1, $2, 'page ' || i, '[]', 'open', date_trunc('milliseconds', ${at}) from generate_series(1, ${count}) i`,
    [orgId, agentId],
  );
}

function fillQuarantine(count: number, at: string): Promise<unknown> {
  return test.database.query(
    `insert into quarantine (id, org_id, agent_id, kind, reason, content, payload, content_hash, created_at)
     select ${ID}, $1, $2, 'diary', 'injection', 'text ' || i, '{}', gen_random_uuid()::text, date_trunc('milliseconds', ${at})
     from generate_series(1, ${count}) i`,
    [orgId, agentId],
  );
}

describe.each(lists)('1,137 $name', ({ path, own, fill, add }) => {
  const all = COUNT + own;
  beforeAll(() => fill());

  it('are walked by cursor while others are added: each once, and the total is right', async () => {
    let added = 0;
    const pages = await walk(path, 100, async (number) => {
      await add();
      added += 1;
      // Two at the same moment as well.
      if (number === 3) {
        await Promise.all([add(), add()]);
        added += 2;
      }
    });
    const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
    expect(ids).toHaveLength(all);
    expect(new Set(ids).size).toBe(all);
    expect(pages.map(({ total }) => total)[0]).toBe(all);
    expect(pages.at(-1)!.total).toBe(all + added);
    expect(pages.slice(0, -1).every(({ items }) => items.length === 100)).toBe(true);
    expect(pages.at(-1)!.next_cursor).toBeNull();
    const now = await walk(path, 200, () => Promise.resolve());
    expect(new Set(now.flatMap(({ items }) => items.map(({ id }) => id))).size).toBe(all + added);
  });

  it('come fifty a page unless more or fewer are asked for', async () => {
    expect((await page(path)).items).toHaveLength(50);
    expect((await page(`${path}?limit=1`)).items).toHaveLength(1);
    expect((await page(`${path}?limit=200`)).items).toHaveLength(200);
  });

  it('of a cursor that somebody else moves past stay in place', async () => {
    const first = await page(`${path}?limit=7`);
    await add();
    const [once, again] = [
      await page(`${path}?limit=7&cursor=${first.next_cursor}`),
      await page(`${path}?limit=7&cursor=${first.next_cursor}`),
    ];
    expect(once.items).toEqual(again.items);
    expect(once.items.map(({ id }) => id)).not.toContain(first.items.at(-1)!.id);
  });
});

describe('every list of the service', () => {
  const cursorOf = (text: string): string => Buffer.from(text, 'latin1').toString('base64url');

  /** What answers `{items, next_cursor, total}`, and whatever else takes a limit. */
  async function limited(): Promise<{ path: string; paged: boolean }[]> {
    const found: { path: string; paged: boolean }[] = [];
    for (const route of await servedRoutes(test.http)) {
      if (route.method !== 'get' || /\/(stream|export)$|^\/docs|openapi/.test(route.path)) continue;
      const path = addressOf(route, { id: 'owner' });
      const { status, body } = await test.http.get(`${path}?limit=1`);
      if (status === 200 && !/^\/health|^\/organization|^\/metrics/.test(path)) {
        found.push({ path, paged: Object.hasOwn(body as object, 'next_cursor') });
      }
    }
    return found;
  }

  it('refuses a limit outside 1..200, and a cursor that is none', async () => {
    const lists = await limited();
    expect(lists.filter(({ paged }) => paged).length).toBeGreaterThanOrEqual(7);
    for (const { path, paged } of lists) {
      for (const limit of [
        '0',
        '-1',
        '201',
        '1000000000',
        '1e9',
        'abc',
        '',
        '1.5',
        'NaN',
        'Infinity',
        'null',
        '1&limit=2',
      ]) {
        const { errors } = expectProblem(await test.http.get(`${path}?limit=${limit}`), 422, 'request.invalid');
        expect([path, limit, errors!.map((error) => error.path)]).toEqual([path, limit, ['limit']]);
      }
      if (!paged) continue;
      const id = randomUUID();
      for (const cursor of [
        '',
        'x',
        'null',
        '0',
        '%00',
        `${Date.now()}_${id}`,
        cursorOf('{}'),
        cursorOf(id),
        cursorOf(`_${id}`),
        cursorOf(`abc_${id}`),
        cursorOf(`${Date.now()}_`),
        cursorOf(`${Date.now()}_x' or 1=1--`),
        cursorOf(`${Date.now()}_${'9'.repeat(40)}`),
        cursorOf(`-999999999999999_${id}`),
        cursorOf(`999999999999999_${id}`),
        cursorOf(`NaN_${id}`),
        'x'.repeat(301),
        `x&cursor=y`,
      ]) {
        const { errors } = expectProblem(await test.http.get(`${path}?cursor=${cursor}`), 422, 'request.invalid');
        expect([path, cursor, errors!.map((error) => error.path)]).toEqual([path, cursor, ['cursor']]);
      }
    }
  });

  it('refuses a filter that nobody knows', async () => {
    for (const { path } of await limited()) {
      const { errors } = expectProblem(await test.http.get(`${path}?colour=red`), 422, 'request.invalid');
      expect([path, errors!.map((error) => error.path)]).toEqual([path, ['colour']]);
    }
  });
});
