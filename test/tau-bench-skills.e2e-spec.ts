import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toolSimilarity } from '../src/core/similarity/tool-similarity.js';
import { startApp, type TestApp } from './support/app.js';
import { eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { manyTurns } from './support/tau-bench.js';

const { source, turns } = manyTurns();

interface LearnedRow {
  handle: string;
  name: string;
  content: string;
  trigger: string;
  tool_sequence: string[];
  source_turn_ids: string[];
}

describe(`skills from ${source}`, () => {
  let test: TestApp;
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start();
    let drafts = 0;
    // Whatever is asked becomes a skill, but for every fourth, in which the model sees nothing.
    model.reply('skill_synthesizer', ({ user }) => {
      drafts += 1;
      if (drafts % 4 === 0) return 'NOOP';
      const tools = /<(tools-[0-9a-f]+)>\n([\s\S]*?)\n<\/\1>/.exec(user)![2]!.split('\n');
      const steps = tools.map((tool, index) => `${index + 1}. Procedure ${drafts}: ${tool} for draft ${drafts}.`);
      const body = `## When to use\n\nCase ${drafts}.\n\n## Steps\n\n${steps.join('\n')}\n\n## Pitfalls\n\nNone seen.`;
      return JSON.stringify({ name: `procedure-${drafts}`, description: `Procedure ${drafts}.`, body });
    });
    const skill_synthesis = { cluster_window_hours: 0, scheduler_enabled: false };
    test = await startApp({ model, config: { learning: { skill_synthesis } } });
    for (let from = 0; from < turns.length; from += 50) {
      const batch = { turns: turns.slice(from, from + 50), reflect: true };
      await test.http.post('/turns/batch').send(batch).expect(200);
    }
    await untilIdle();
  }, 120_000);

  afterAll(async () => {
    await test.close();
    await model.close();
  });

  async function untilIdle(): Promise<void> {
    for (let wait = 0; wait < 6; wait++) {
      const idle = await eventually(
        async () => ((await test.http.get('/jobs').expect(200)).body as { total: number }).total,
        (total) => total === 0,
      ).then(
        () => true,
        () => false,
      );
      if (idle) return;
    }
    throw new Error('the jobs did not end');
  }

  const learned = (): Promise<LearnedRow[]> =>
    test.database.query<LearnedRow>(
      `select handle, name, content, trigger, tool_sequence, source_turn_ids from synthesized_skills
       join agents on agents.id = agent_id order by handle, name`,
    );
  const calls = (): number => model.requestsOf('skill_synthesizer').length;

  it('come from what recurs and went well, or from one long turn, and none twice', async () => {
    await test.http.post('/jobs/cluster-skills').expect(202);
    await untilIdle();
    const skills = await learned();
    expect(skills.length).toBeGreaterThan(0);
    if (source === 'tau-bench') {
      expect(new Set(skills.map(({ trigger }) => trigger))).toEqual(new Set(['single_turn', 'clustered']));
      expect(new Set(skills.map(({ handle }) => handle)).size).toBe(4);
    }
    const outcome = new Map(turns.map((turn) => [turn.turn_id, turn]));
    for (const skill of skills) {
      const sources = skill.source_turn_ids.map((id) => outcome.get(id)!);
      expect(sources.map(({ review_outcome }) => review_outcome)).toEqual(sources.map(() => 'done'));
      expect(sources.map(({ agent }) => agent)).toEqual(sources.map(() => skill.handle));
      if (skill.trigger === 'single_turn') expect(skill.tool_sequence.length).toBeGreaterThanOrEqual(5);
      else expect(sources.length).toBeGreaterThanOrEqual(3);
    }
    const all = skills.flatMap((skill) => skill.source_turn_ids);
    expect(new Set(all).size).toBe(all.length);
    for (const [index, skill] of skills.entries()) {
      const others = skills.filter((other, at) => at !== index && other.handle === skill.handle);
      expect(others.filter((other) => toolSimilarity(other.tool_sequence, skill.tool_sequence) >= 0.7)).toEqual([]);
    }
  }, 120_000);

  it('cost no call and change nothing where the clusters are judged already', async () => {
    const [before, asked] = [await learned(), calls()];
    await test.http.post('/jobs/cluster-skills').expect(202);
    await untilIdle();
    expect(calls()).toBe(asked);
    expect(await learned()).toEqual(before);
  }, 60_000);
});
