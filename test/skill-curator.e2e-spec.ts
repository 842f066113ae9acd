import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SkillState } from '../src/memories/skills/skill.models.js';
import { startApp, type TestApp } from './support/app.js';
import { callTool, eventsOf, eventually, register } from './support/requests.js';

let test: TestApp;
let count = 0;

beforeAll(async () => {
  test = await startApp({ config: { learning: { skill_curator: { stale_after_days: 30, archive_after_days: 90 } } } });
});
afterAll(() => test.close());

const newHandle = (): string => `agent-${(count += 1)}`;

interface Ages {
  created?: number;
  used?: number;
  revived?: number;
  state?: SkillState;
  pinned?: boolean;
}

/** A skill of a new agent that was drafted, used or revived so many days ago. */
async function aged({ created = 500, used, revived, state = 'active', pinned = false }: Ages): Promise<string> {
  const agent = newHandle();
  await register(test.http, agent);
  const text = { description: 'How to do it.', content: 'Do it in three steps.' };
  await test.http.put(`/agents/${agent}/skills/do-it`).send(text).expect(201);
  await test.database.query(
    `update synthesized_skills set created_at = now() - $2 * interval '1 day', last_used_at = now() - $3 * interval '1 day',
       revived_at = now() - $4 * interval '1 day', state = $5, pinned = $6,
       stale_at = case when $5 = 'stale' then now() end
     where agent_id = (select id from agents where handle = $1)`,
    [agent, created, used ?? null, revived ?? null, state, pinned],
  );
  return agent;
}

interface SkillTimes {
  state: string;
  stale: boolean;
  archived: boolean;
}

async function stateOf(agent: string): Promise<SkillTimes> {
  const [row] = await test.database.query<SkillTimes>(
    `select state, stale_at is not null as stale, archived_at is not null as archived from synthesized_skills
     where agent_id = (select id from agents where handle = $1)`,
    [agent],
  );
  return row!;
}

async function curate(): Promise<void> {
  await test.http.post('/jobs/curate-skills').expect(202);
  await eventually(
    async () => ((await test.http.get('/jobs?task=curate-skills').expect(200)).body as { total: number }).total,
    (total) => total === 0,
  );
}

describe('the curator', () => {
  const active = { state: 'active', stale: false, archived: false };
  const stale = { state: 'stale', stale: true, archived: false };
  const archived = { state: 'archived', stale: true, archived: true };

  it('ages skills by their use, in one look, and a second finds nothing to do', async () => {
    const cases: [Ages, SkillTimes][] = [
      [{ used: 10 }, active],
      [{ created: 10 }, active],
      [{ used: 40 }, stale],
      [{ created: 40 }, stale],
      [{ created: 200 }, archived],
      [{ used: 100, state: 'stale' }, archived],
      [{ used: 40, state: 'stale' }, stale],
      [{ used: 1, state: 'stale' }, active],
      [{ used: 200, pinned: true }, active],
      [{ used: 200, pinned: true, state: 'stale' }, stale],
      [{ created: 300, revived: 2 }, active],
      [{ created: 300, revived: 50 }, stale],
    ];
    const agents: string[] = [];
    for (const [ages] of cases) agents.push(await aged(ages));
    const events = (['skill.staled', 'skill.archived', 'skill.revived'] as const).map((type) => eventsOf(test, type));
    await curate();
    for (const [index, [ages, expected]] of cases.entries()) {
      expect([ages, await stateOf(agents[index]!)]).toEqual([ages, expected]);
    }
    const told = events.map((each) =>
      each.map(({ agent_handle: agent }) => agents.indexOf(agent!)).sort((a, b) => a - b),
    );
    expect(told).toEqual([[2, 3, 4, 11], [4, 5], [7]]);
    expect(events[0]![0]).toMatchObject({
      role: 'support',
      turn_id: null,
      payload: {
        agent_handle: agents[2],
        skill_id: expect.any(String),
        skill_name: 'do-it',
        last_used_at: expect.any(String),
        transitioned_at: expect.any(String),
      },
    });
    expect(events[2]![0]!.payload).toMatchObject({ prior_state: 'stale' });

    await curate();
    expect(events.map((each) => each.length)).toEqual([4, 2, 1]);
    const [{ total }] = (await test.database.query(`select count(*)::int as total from synthesized_skills`)) as [
      { total: number },
    ];
    expect(total).toBe(cases.length);
  });

  it('leaves to the use of a skill what it would have aged', async () => {
    const agent = await aged({ used: 60, state: 'stale' });
    expect(await callTool(test.http, agent, 'use_skill', { skill_name: 'do-it' })).toMatchObject({ is_error: false });
    await curate();
    expect(await stateOf(agent)).toEqual(active);
  });

  it('does not put away at once again what an operator brought back', async () => {
    const agent = await aged({ created: 400 });
    await curate();
    expect((await stateOf(agent)).state).toBe('archived');
    await test.http.patch(`/agents/${agent}/skills/do-it`).send({ state: 'active' }).expect(200);
    await curate();
    expect(await stateOf(agent)).toEqual(active);
  });

  it('frees the name, and the turns that an archived skill was made of', async () => {
    const agent = await aged({ created: 400 });
    const [skill] = await test.database.query<{ id: string; org_id: string; agent_id: string }>(
      `select id, org_id, agent_id from synthesized_skills
       where agent_id = (select id from agents where handle = $1)`,
      [agent],
    );
    await test.database.query(
      `insert into episodes (id, started_at, org_id, agent_id, agent_handle, agent_role, kind, count, task_summary,
         plan_summary, plan_decision, engaged, tool_sequence, skills_used, review_outcome, ended_at, duration_ms, work_key,
         subjects_involved, exemplar_turn_ids, is_exemplar, consolidated_into_skill_id, consolidated_at, source_turn_ids,
         search, search_length, created_at)
       values (gen_random_uuid(), now(), $1, $2, $3, 'support', 'raw', 1, '', '', 'plan', true, '["a"]', '[]', 'done', now(),
         0, '', '[]', '[]', false, $4, now(), '[]', '', 0, now())`,
      [skill!.org_id, skill!.agent_id, agent, skill!.id],
    );
    await curate();
    const marks = await test.database.query(
      `select consolidated_into_skill_id as skill, consolidated_at as at from episodes where agent_handle = $1`,
      [agent],
    );
    expect(marks).toEqual([{ skill: null, at: null }]);
    const text = { description: 'How to do it.', content: 'Do it otherwise.' };
    await test.http.put(`/agents/${agent}/skills/do-it`).send(text).expect(201);
  });
});

describe('a curator that is off', () => {
  it('ages nothing, asked or not', async () => {
    const agent = await aged({ created: 400 });
    await test.close();
    test = await startApp({ keepData: true, config: { learning: { skill_curator: { enabled: false } } } });
    await curate();
    expect((await stateOf(agent)).state).toBe('active');
  });
});
