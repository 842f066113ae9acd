import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LearningHealthView } from '../src/views/learning-health/learning-health.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { callTool, register } from './support/requests.js';
import { aTurn } from './support/turns.js';

let test: TestApp;

beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface HealthPage {
  items: LearningHealthView[];
  next_cursor: string | null;
  total: number;
}

async function health(query = ''): Promise<HealthPage> {
  const { body } = await test.http.get(`/learning-health${query}`).expect(200);
  return body as HealthPage;
}

async function healthOf(agent: string): Promise<LearningHealthView> {
  const { items, total } = await health(`?agent=${encodeURIComponent(agent)}`);
  expect(total).toBe(1);
  return items[0]!;
}

/** A skill of an agent as it is after some days; its tools are those of the turn helper. */
async function has(
  agent: string,
  name: string,
  changes: { days?: number; uses?: number; tools?: string[] } = {},
): Promise<void> {
  await register(test.http, agent);
  const text = { description: `How to ${name}.`, content: `Do ${name}.` };
  await test.http.put(`/agents/${agent}/skills/${name}`).send(text).expect(201);
  await test.database.query(
    `update synthesized_skills set created_at = now() - $3 * interval '1 day', use_count = $4, tool_sequence = $5::jsonb
     where name = $2 and agent_id = (select id from agents where handle = $1)`,
    [agent, name, changes.days ?? 0, changes.uses ?? 0, JSON.stringify(changes.tools ?? ['get_order', 'send_message'])],
  );
}

const post = async (turns: Record<string, unknown>[]): Promise<void> => {
  await test.http
    .post('/turns/batch')
    .send({ turns: turns.map((turn) => aTurn(turn)), reflect: false })
    .expect(200);
};

describe('learning health', () => {
  it('has a row for every agent, zeros where nothing is learned yet', async () => {
    const id = await register(test.http, 'newcomer');
    expect(await healthOf('newcomer')).toEqual({
      agent_id: id,
      agent_handle: 'newcomer',
      total_skills: 0,
      skills_used_at_least_once: 0,
      total_skill_uses: 0,
      most_recent_skill_use: null,
      avg_uses_per_skill: 0,
      avg_skill_age_days: 0,
      below_threshold: false,
      turns_with_skills: 0,
      done_rate_with_skills: null,
      turns_without_skills: 0,
      done_rate_without_skills: null,
    });
  });

  it('rolls up the skills that are neither archived nor rejected', async () => {
    await has('learned', 'one', { days: 10, uses: 3 });
    await has('learned', 'two', { days: 20 });
    for (const [name, state] of [
      ['three', 'archived'],
      ['four', 'rejected'],
    ] as const) {
      await has('learned', name, { days: 300, uses: 50 });
      await test.http.patch(`/agents/learned/skills/${name}`).send({ state }).expect(200);
    }
    await callTool(test.http, 'learned', 'use_skill', { skill_name: 'two' });
    const row = await healthOf('learned');
    expect(row).toMatchObject({
      total_skills: 2,
      skills_used_at_least_once: 2,
      total_skill_uses: 4,
      most_recent_skill_use: expect.stringMatching(/^\d{4}-.*Z$/),
      avg_uses_per_skill: 2,
      below_threshold: false,
    });
    expect(row.avg_skill_age_days).toBeCloseTo(15, 1);
  });

  it('is below the threshold where skills of more than a week are used less than 0.1 times each', async () => {
    await has('young', 'one', { days: 6 });
    await has('unused', 'one', { days: 8 });
    await has('used', 'one', { days: 8, uses: 1 });
    await has('mixed', 'one', { days: 8 });
    await has('mixed', 'two', { days: 1, uses: 100 });
    const expected = { young: false, unused: true, used: false, mixed: true };
    for (const [agent, below] of Object.entries(expected)) {
      expect([agent, (await healthOf(agent)).below_threshold]).toEqual([agent, below]);
    }
    const below = await health('?below_threshold=true');
    expect(below.items.map(({ agent_handle: handle }) => handle)).toEqual(['mixed', 'unused']);
    expect(below.total).toBe(2);
    const others = await health('?below_threshold=false&limit=200');
    expect(others.total).toBe(others.items.length);
    expect(others.items.some((item) => item.below_threshold)).toBe(false);
  });

  it('compares turns that used a skill with turns of the same kind that did not', async () => {
    const agent = 'compared';
    await has(agent, 'answer');
    const used = { agent, skills_used: ['answer'] };
    await post([
      used,
      used,
      { ...used, tool_sequence: ['other'] },
      { ...used, review_outcome: 'failed' },
      { agent },
      { agent, review_outcome: 'failed' },
      { agent, skills_used: ['gone'], review_outcome: 'failed' },
      { agent, tool_sequence: ['get_order', 'send_message', 'send_message'], review_outcome: 'failed' },
      { agent, tool_sequence: ['another', 'thing'] },
      { agent, review_outcome: 'self_iterate' },
      { agent, plan: { decision: 'skip' } },
      { agent: 'compared-2' },
    ]);
    expect(await healthOf(agent)).toMatchObject({
      turns_with_skills: 4,
      done_rate_with_skills: 0.75,
      turns_without_skills: 4,
      done_rate_without_skills: 0.25,
    });
  });

  it('is paged and filtered, and refuses what it does not know', async () => {
    for (let index = 0; index < 7; index++) await register(test.http, `paged-${index}`, 'paged');
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await health(`?role=paged&limit=3${cursor}`);
      expect(page.total).toBe(7);
      seen.push(...page.items.map(({ agent_handle: handle }) => handle));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `paged-${index}`));
    expect((await health('?unit=nowhere')).items).toEqual([]);
    expectProblem(await test.http.get('/learning-health?agent=nobody'), 404, 'agent.not_found');
    for (const query of ['below_threshold=perhaps', 'limit=0', 'limit=201', 'cursor=x', 'org=x', 'agent=a&agent=b']) {
      expectProblem(await test.http.get(`/learning-health?${query}`), 422, 'request.invalid');
    }
  });

  it('is read with the scope read, of the own organisation alone', async () => {
    const closed = await startApp({ env: { ADMIN_API_KEY: 'root-key' } });
    try {
      const keyOf = async (organization: string, scope: string): Promise<Record<string, string>> => {
        const { body } = await closed.http
          .post('/api-keys')
          .set('authorization', 'Bearer root-key')
          .send({ name: scope, scopes: [scope], organization })
          .expect(201);
        return { authorization: `Bearer ${(body as { key: string }).key}` };
      };
      for (const organization of ['Mine', 'Theirs']) {
        const engine = await keyOf(organization, 'engine');
        await closed.http
          .post('/turns')
          .set(engine)
          .send(aTurn({ agent: `of-${organization}` }))
          .expect(202);
        expectProblem(await closed.http.get('/learning-health').set(engine), 403, 'auth.scope_missing');
      }
      const { body } = await closed.http.get('/learning-health').set(await keyOf('Mine', 'read'));
      expect((body as HealthPage).items.map(({ agent_handle: handle }) => handle)).toEqual(['of-Mine']);
      expect((await closed.http.get('/learning-health')).status).toBe(401);
    } finally {
      await closed.close();
    }
  });
});
