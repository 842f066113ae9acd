import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { screenText } from '../../core/screening/screening-rules.js';
import { readSkillFile } from './tool-skill.format.js';
import type { ToolSkill } from './tool-skill.models.js';
import { renderBody } from './tool-skill.rendering.js';
import { isTriggered, type ToolSkillTrigger } from './tool-skill.trigger.js';

const directory = new URL('../../../examples/tool-skills/', import.meta.url);
const files = readdirSync(directory);
const read = (name: string): ToolSkill => {
  const { skill, problem } = readSkillFile(readFileSync(new URL(name, directory), 'utf8'));
  if (!skill) throw new Error(`${name} ${problem}`);
  return skill;
};

const POST = { tool: 'slack_conversations_add_message' };
const PLANE = { mcp_server: 'plane' };
const triggers: Record<string, ToolSkillTrigger> = {
  'channel-discovery': { any_of: [{ tool: 'slack_channels_list' }, { tool: 'slack_conversations_search_messages' }] },
  'getting-unstuck': { any_of: [POST, PLANE, { tool: 'a2a_ask' }] },
  'observed-directives': POST,
  'refine-skill': { tool: 'refine_skill' },
  'reflect-and-persist': { tool: 'reflect_and_persist' },
  'retrieval-research': { any_of: [{ tool: 'query_episodes' }, PLANE, { tool: 'refresh_memory' }] },
};

describe('the bundled skills', () => {
  it('are the six of the mission', () => {
    expect(files.sort()).toEqual(Object.keys(triggers).map((key) => `${key}.md`));
  });

  it.each(Object.entries(triggers))('%s is named after its file and has its trigger', (key, trigger) => {
    const skill = read(`${key}.md`);
    expect(skill).toMatchObject({ key, trigger });
    expect(skill.phases).toContain('plan');
    expect(screenText(`${skill.title}\n${skill.summary}\n${skill.body}`)).toEqual({ flagged: false });
    expect(skill.body).not.toMatch(/^#/m);
  });

  it('stand in one block all together, and beside a few of an operator', () => {
    const length = files.map(read).reduce((sum, { title, body }) => sum + title.length + body.length + 50, 0);
    expect(length).toBeLessThan(5_500);
  });
});

describe('retrieval-research', () => {
  const { body, trigger } = read('retrieval-research.md');
  const parts = { query_episodes: /query_episodes/, plane: /plane/, refresh_memory: /refresh_memory/ };
  type Part = keyof typeof parts;
  const names = Object.keys(parts) as Part[];
  const subsets = Array.from({ length: 8 }, (_, bits) => names.filter((_name, index) => bits & (1 << index)));

  it.each(subsets.map((subset) => ({ subset })))(
    'for a role with $subset has the rule once and their lines',
    ({ subset }) => {
      const role = {
        tools: new Set<string>([...subset.filter((name) => name !== 'plane'), 'other']),
        mcpServers: new Set<string>(subset.filter((name) => name === 'plane')),
      };
      expect(isTriggered(trigger, role)).toBe(subset.length > 0);
      const text = renderBody(body, { surroundings: role, variables: {} });
      expect(text.match(/search again/g)).toHaveLength(1);
      expect(text).not.toMatch(/[{}]/);
      const lines = text.split('\n').filter((line) => line.startsWith('- '));
      expect(lines).toHaveLength(subset.length);
      for (const name of names) {
        expect(lines.filter((line) => parts[name].test(line))).toHaveLength(subset.includes(name) ? 1 : 0);
        if (!subset.includes(name)) expect(text).not.toMatch(parts[name]);
      }
    },
  );
});
