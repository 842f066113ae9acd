import { describe, expect, it } from '@jest/globals';
import { bodyProblem, charactersOf, descriptionProblem, nameProblem } from './skill.rules.js';

describe('the rules of a skill', () => {
  it.each(['ab', 'a1', '0-0', 'refund-order', 'x'.repeat(64), 'a--b'])('take the name %s', (name) => {
    expect(nameProblem(name)).toBeNull();
  });

  it.each([
    ['empty', ''],
    ['one letter', 'a'],
    ['too long', 'x'.repeat(65)],
    ['capitals', 'Refund'],
    ['space', 'refund order'],
    ['underscore', 'refund_order'],
    ['hyphen at the start', '-ab'],
    ['hyphen at the end', 'ab-'],
    ['line', 'ab\n'],
    ['accents', 'rückgabe'],
    ['path', '../etc'],
    ['NUL', 'a\u0000b'],
  ])('refuse a name: %s', (_, name) => expect(nameProblem(name)).toMatchObject({ rule: 'invalid_name' }));

  it('count characters, not code units', () => {
    expect(charactersOf('a😀é\n')).toBe(4);
    expect(descriptionProblem('😀'.repeat(400))).toBeNull();
    expect(descriptionProblem('x'.repeat(401))).toMatchObject({ rule: 'invalid_description' });
    expect(descriptionProblem(' \n')).toMatchObject({ rule: 'invalid_description' });
  });

  it('refuse a body over the limit with limit, size and what to do', () => {
    expect(bodyProblem('😀'.repeat(20), 20)).toBeNull();
    const problem = bodyProblem('x'.repeat(21), 20);
    expect(problem?.rule).toBe('body_too_long');
    for (const part of ['20', '21', 'replace_body']) expect(problem?.message).toContain(part);
    expect(bodyProblem('\n \n', 20)).toMatchObject({ rule: 'empty_body' });
  });
});
