import type TestAgent from 'supertest/lib/agent.js';
import type { SkillRow, SkillVersionView, SkillView } from '../../src/memories/skills/skill.models.js';
import { SynthesizedSkillStore, type SkillDraft } from '../../src/memories/skills/synthesized-skill.store.js';
import type { TestApp } from './app.js';
import { register } from './requests.js';

export const pathOf = (agent: string, name = ''): string =>
  `/agents/${encodeURIComponent(agent)}/skills${name === '' ? '' : `/${encodeURIComponent(name)}`}`;

/** A skill as the synthesizer leaves it: no operator has had a hand in it. */
export async function synthesized(
  test: TestApp,
  agent: string,
  name: string,
  changes: Partial<SkillDraft> = {},
): Promise<SkillRow> {
  const agentId = await register(test.http, agent);
  const [row] = await test.database.query<{ org_id: string }>(`select org_id from agents where id = $1`, [agentId]);
  const created = await test.app.get(SynthesizedSkillStore).create({
    orgId: row!.org_id,
    agentId,
    name,
    description: `When to ${name}`,
    content: `# ${name}\n\n1. First step.\n2. Second step.`,
    toolSequence: [],
    sourceEpisodeIds: [],
    sourceTurnIds: [],
    origin: 'synthesized',
    trigger: 'single_turn',
    clusterFingerprint: null,
    ...changes,
  });
  if (created.status !== 'created') throw new Error(created.message);
  return created.skill;
}

/** A skill as an operator writes it, for an agent that is known. */
export async function putSkill(
  http: TestAgent,
  agent: string,
  name: string,
  text: { description?: string; content?: string } = {},
): Promise<SkillView> {
  const body = { description: `When to ${name}`, content: `# ${name}`, ...text };
  const { status, body: skill } = await http.put(pathOf(agent, name)).send(body);
  if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(skill)}`);
  return skill as SkillView;
}

export async function skillOf(http: TestAgent, agent: string, name: string): Promise<SkillView> {
  return (await http.get(pathOf(agent, name)).expect(200)).body as SkillView;
}

export async function skillsOf(http: TestAgent, agent: string, query = ''): Promise<SkillView[]> {
  return ((await http.get(`${pathOf(agent)}${query}`).expect(200)).body as { items: SkillView[] }).items;
}

/** All versions, the live one first. */
export async function versionsOf(http: TestAgent, agent: string, name: string): Promise<SkillVersionView[]> {
  const { body } = await http.get(`${pathOf(agent, name)}/versions?limit=200`).expect(200);
  return (body as { items: SkillVersionView[] }).items;
}
