import type { SkillRow } from '../../src/memories/skills/skill.models.js';
import type { TestApp } from './app.js';
import { eventually } from './requests.js';
import { synthesized } from './skills.js';

export interface UnitDocument {
  name: string;
  lead?: string;
  confluence_space?: string;
  plane_project?: string;
}

/** An organisation in which everybody is support; `members` are the agents of each unit. */
export function anOrganization(units: UnitDocument[], members: Record<string, string[]>): Record<string, unknown> {
  const leads = units.flatMap(({ lead }) => lead ?? []).filter((lead) => !Object.values(members).flat().includes(lead));
  const agents = Object.entries({ '': leads, ...members }).flatMap(([unit, handles]) =>
    handles.map((handle) => ({ handle, role: 'support', unit: unit === '' ? null : unit })),
  );
  return {
    name: 'Acme',
    knowledge: { confluence_spaces: ['ENG', 'OPS'], plane_projects: ['ENG', 'OPS'] },
    roles: [{ name: 'support' }, { name: 'mute', llm: 'nowhere' }, { name: 'idle', learning_enabled: false }],
    units,
    agents,
  };
}

export async function putOrganization(test: TestApp, document: Record<string, unknown>): Promise<void> {
  await test.http.put('/organization').send(document).expect(200);
}

export const REFUND = ['find_user', 'get_order', 'refund_order'];

/** A skill of that name in each agent, learned from the same tools. */
export async function learnedBy(
  test: TestApp,
  agents: readonly string[],
  { name = 'refund', tools = REFUND, content = '' }: { name?: string; tools?: string[]; content?: string } = {},
): Promise<SkillRow[]> {
  const rows: SkillRow[] = [];
  for (const agent of agents) {
    rows.push(
      await synthesized(test, agent, name, {
        toolSequence: tools,
        ...(content === '' ? {} : { content }),
        sourceTurnIds: [],
      }),
    );
  }
  return rows;
}

export function aDraft(name: string, changes: Record<string, string> = {}): string {
  const body = `## When to use\n\nFor ${name}.\n\n## Steps\n\n1. Call \`find_user\`.\n\n## Pitfalls\n\nNone seen.`;
  return JSON.stringify({ name, description: `How to ${name}.`, body, ...changes });
}

export interface PromotionJob {
  id: string;
  task: string;
  status: string;
  attempts: number;
  last_error: string | null;
}

export async function promotionJobs(test: TestApp): Promise<PromotionJob[]> {
  const { body } = await test.http.get('/jobs?limit=200').expect(200);
  return (body as { items: PromotionJob[] }).items.filter(({ task }) => task.startsWith('promote'));
}

/** Has the units looked at and waits until that has ended; answers with the jobs that are dead or put off. */
export async function promote(test: TestApp): Promise<PromotionJob[]> {
  await test.http.post('/jobs/promote-skills').expect(202);
  return eventually(
    () => promotionJobs(test),
    (jobs) =>
      jobs.every(({ task, status }) => task !== 'promote-skills' && (status === 'dead' || status === 'retrying')),
  );
}

export interface PromotionRow {
  id: string;
  unit: string;
  state: string;
  reason: string | null;
  name: string | null;
  member_skill_ids: string[];
  attempts: number;
  last_error: string | null;
  page_id: string | null;
  page_title: string | null;
}

export function promotionsOf(test: TestApp): Promise<PromotionRow[]> {
  return test.database.query<PromotionRow>(
    `select id, unit, state, reason, name, member_skill_ids, attempts, last_error, page_id, page_title
     from promotions order by created_at, id`,
  );
}

/** Ends the jobs of promotion, then forgets what was learned and promoted. */
export async function forgetAll(test: TestApp): Promise<void> {
  await eventually(
    async () => {
      const jobs = `from graphile_worker.jobs where task_identifier like 'promote%'`;
      await test.database.query(`select graphile_worker.complete_jobs(array_agg(id)) ${jobs}`);
      return test.database.query(`select id ${jobs}`);
    },
    (jobs) => jobs.length === 0,
  );
  for (const table of ['promotions', 'quarantine', 'synthesized_skills']) {
    await test.database.query(`delete from ${table}`);
  }
}
