import { describe, expect, it } from '@jest/globals';
import { MAX_FILE_BYTES, readSkillFile } from './tool-skill.format.js';
import { isTriggered, type ToolSkillTrigger } from './tool-skill.trigger.js';

const HEADER: Record<string, string> = {
  key: 'posting',
  trigger: '{ tool: post }',
  phases: '[plan, execute]',
  title: 'Posting',
  summary: 'How to post.',
};

function file(changes: Record<string, string | null> = {}, body = 'Post **well**.'): string {
  const header = Object.entries({ ...HEADER, ...changes }).filter(([, value]) => value !== null);
  return ['---', ...header.map(([key, value]) => `${key}: ${value}`), '---', body].join('\n');
}

describe('a skill file', () => {
  it('is read', () => {
    expect(readSkillFile(file())).toEqual({
      problem: null,
      skill: {
        key: 'posting',
        trigger: { tool: 'post' },
        phases: ['plan', 'execute'],
        title: 'Posting',
        summary: 'How to post.',
        required: true,
        body: 'Post **well**.',
      },
    });
  });

  it.each([
    ['a byte-order mark', `\uFEFF${file()}`],
    ['Windows line ends', file().replaceAll('\n', '\r\n')],
    ['blank lines around', `\n\n${file()}\n\n`],
    ['spaces after the fences', file().replaceAll('---', '--- ')],
    ['a comment', file({ summary: 'How to post. # a comment' })],
  ])('may have %s', (_, text) => {
    expect(readSkillFile(text).skill).toMatchObject({
      key: 'posting',
      body: 'Post **well**.',
      summary: 'How to post.',
    });
  });

  it('keeps a rule in its body', () => {
    expect(readSkillFile(file({}, 'a\n\n---\n\nb')).skill!.body).toBe('a\n\n---\n\nb');
  });

  it('takes subagent for a phase that is not known here, and the phases in one order', () => {
    expect(readSkillFile(file({ phases: '[review, subagent, plan, plan]' })).skill!.phases).toEqual(['plan', 'review']);
    expect(readSkillFile(file({ phases: '[subagent]' })).skill!.phases).toEqual([]);
  });

  it('says whether it is required', () => {
    expect(readSkillFile(file({ required: 'false' })).skill!.required).toBe(false);
  });

  it.each(Object.keys(HEADER))('needs %s', (key) => {
    const { skill, problem } = readSkillFile(file({ [key]: null }));
    expect(skill).toBeNull();
    expect(problem).toContain(`${key}:`);
  });

  it.each<[string, Record<string, string | null>, RegExp]>([
    ['another key', { owner: 'me' }, /owner.*not a known field/],
    ['a body in the header', { body: 'x' }, /body/],
    ['a phase that nobody has', { phases: '[plan, sleep]' }, /phases\.1/],
    ['no phase', { phases: '[]' }, /phases/],
    ['one phase as a text', { phases: 'plan' }, /phases/],
    ['a blank title', { title: '"  "' }, /title/],
    ['a title of two lines', { title: '"a\\nb"' }, /title/],
    ['a summary over 240 bytes', { summary: 'ä'.repeat(121) }, /summary.*240/],
    ['a required that is no switch', { required: '"yes"' }, /required/],
    ['a key with a space', { key: 'a b' }, /key/],
    ['a key with a slash', { key: 'a/b' }, /key/],
    ['a key with a backtick', { key: '"a`b"' }, /key/],
    ['a key that is a number', { key: '7' }, /key/],
    ['a key of 129 characters', { key: 'a'.repeat(129) }, /key/],
    ['YAML that is none', { title: '"a' }, /not YAML/],
    ['an alias', { title: '&a Posting', summary: '*a' }, /not YAML/],
    ['a trigger with an extra key', { trigger: '{ tool: post, mcp_server: slack }' }, /trigger.*exactly one/],
    ['an unknown trigger', { trigger: '{ role: lead }' }, /trigger.*exactly one/],
    ['a trigger that is a text', { trigger: 'post' }, /trigger/],
    ['an empty any_of', { trigger: '{ any_of: [] }' }, /trigger/],
    ['a wrong trigger inside', { trigger: '{ all_of: [{ tool: a }, { tool: 7 }] }' }, /trigger/],
    ['an extra key inside', { trigger: '{ any_of: [{ tool: a, x: 1 }] }' }, /trigger/],
    ['an empty tool', { trigger: '{ tool: "" }' }, /trigger/],
    ['triggers without end', { trigger: `${'{ any_of: ['.repeat(40)}{ tool: a }${'] }'.repeat(40)}` }, /trigger/],
  ])('with %s is refused', (_, changes, named) => {
    const { skill, problem } = readSkillFile(file(changes));
    expect(skill).toBeNull();
    expect(problem).toMatch(named);
  });

  it.each([
    ['nothing', '', /---/],
    ['no frontmatter', 'Post well.', /---/],
    ['frontmatter without end', '---\nkey: a\n', /---/],
    ['a list for frontmatter', '---\n- a\n---\nx', /mapping/],
    ['empty frontmatter', '---\n---\nx', /mapping/],
    ['no body', file({}, ' \n'), /body.*empty/],
    ['a body over 32,768 bytes', file({}, 'ä'.repeat(16_385)), /body.*32768/],
    ['a size over all bounds', 'x'.repeat(MAX_FILE_BYTES + 1), /larger/],
  ])('with %s is refused', (_, text, named) => {
    expect(readSkillFile(text)).toEqual({ skill: null, problem: expect.stringMatching(named) });
  });

  it('may have a body of 32,768 bytes and a summary of 240', () => {
    const { skill } = readSkillFile(file({ summary: 'ä'.repeat(120) }, 'ä'.repeat(16_384)));
    expect(skill).toMatchObject({ summary: 'ä'.repeat(120), body: 'ä'.repeat(16_384) });
  });
});

describe('a trigger', () => {
  const role = { tools: new Set(['a', 'b', 'any_of']), mcpServers: new Set(['s']) };
  it.each<[ToolSkillTrigger, boolean]>([
    [{ tool: 'a' }, true],
    [{ tool: 'A' }, false],
    [{ tool: 's' }, false],
    [{ mcp_server: 's' }, true],
    [{ mcp_server: 'a' }, false],
    [{ tool: 'a*' }, false],
    [{ any_of: [{ tool: 'x' }, { mcp_server: 's' }] }, true],
    [{ any_of: [{ tool: 'x' }, { mcp_server: 'y' }] }, false],
    [{ all_of: [{ tool: 'a' }, { tool: 'b' }, { mcp_server: 's' }] }, true],
    [{ all_of: [{ tool: 'a' }, { tool: 'x' }] }, false],
    [{ all_of: [{ tool: 'a' }, { any_of: [{ tool: 'x' }, { all_of: [{ tool: 'b' }] }] }] }, true],
    [{ tool: 'any_of' }, true],
  ])('%j: %s', (trigger, expected) => {
    expect(isTriggered(trigger, role)).toBe(expected);
  });
});
