import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { procedureOf, renderSkillDocument } from './skill-document.js';

const body = '## When to use\n\nAlways.\n\n## Steps\n\n1. Look.\n\n## Pitfalls\n\nNone seen.';
const parts = { name: 'look-up', description: 'Looks up.', body, sourceTurnIds: ['t1', 't2'] };

describe('a skill document', () => {
  it('has front matter with the source turns, then the body', () => {
    expect(renderSkillDocument(parts, 20_000)).toBe(
      `---\nname: look-up\ndescription: Looks up.\nsource_turns:\n  - t1\n  - t2\n---\n\n${body}`,
    );
  });

  it.each(['Says: "hi" # not a comment', 'true', '- a\n- b', '{x: [1', '---', 'x'.repeat(400), "it's 50 % 👩‍💻"])(
    'keeps a description such as %j readable',
    (description) => {
      const document = renderSkillDocument({ ...parts, name: '1e5', description }, 20_000);
      const front = /^---\n([\s\S]*?)\n---\n\n/.exec(document.replace(`${body}`, ''))![1]!;
      expect(parse(front)).toEqual({ name: '1e5', description, source_turns: ['t1', 't2'] });
      expect(document.endsWith(body)).toBe(true);
    },
  );

  it('names ten source turns at most', () => {
    const many = Array.from({ length: 40 }, (_, index) => `turn-${index}`);
    const document = renderSkillDocument({ ...parts, sourceTurnIds: many }, 20_000);
    expect(document.match(/ {2}- turn-/g)).toHaveLength(10);
    expect(document).toContain('turn-0\n');
  });

  it('has one front matter where the model wrote one too', () => {
    const own = `---\nname: other\ndescription: x\n---\n\n${body}`;
    expect(renderSkillDocument({ ...parts, body: own }, 20_000)).toBe(renderSkillDocument(parts, 20_000));
  });

  it('leaves out what the row holds anyway before a word of the body', () => {
    const whole = renderSkillDocument(parts, 20_000);
    const headed = '---\nname: look-up\ndescription: Looks up.\n---\n\n' + body;
    expect(renderSkillDocument(parts, whole.length)).toBe(whole);
    expect(renderSkillDocument(parts, whole.length - 1)).toBe(headed);
    expect(renderSkillDocument(parts, headed.length - 1)).toBe(body);
    expect(renderSkillDocument(parts, body.length)).toBe(body);
  });

  it('is a procedure without front matter, headings and list marks', () => {
    const lines = procedureOf(renderSkillDocument(parts, 20_000)).split('\n').filter(Boolean);
    expect(lines).toEqual(['Always.', 'Look.', 'None seen.']);
    expect(procedureOf('- Look.\n  2) Up.\n\n---\n\n3 times.')).toBe('Look.\nUp.\n\n---\n\n3 times.');
  });
});
