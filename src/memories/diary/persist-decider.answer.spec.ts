import { describe, expect, it } from '@jest/globals';
import { persistDeciderAnswer, supersededOf } from './persist-decider.answer.js';

describe('the answer of the PersistDecider', () => {
  it.each([
    [{}],
    [{ content: 'x' }],
    [{ kind: 'LONG', content: 'x' }],
    [{ kind: 'short', content: 'x', ttl_days: 'two weeks' }],
    [{ kind: 'SHORT', content: 'x', ttl_days: null, supersedes: null, target_hint: null, rationale: null }],
    [{ kind: null }],
    [{ kind: '' }],
    [{ kind: 'DOC', content: 'x', target_hint: 'runbook', rationale: 'all need it', supersedes: [1, '2', 'x'] }],
  ])('understands %j', (answer) => {
    expect(persistDeciderAnswer.safeParse(answer).success).toBe(true);
  });

  it.each([[{ kind: 'MEDIUM', content: 'x' }], [{ kind: 'LONG', content: 7 }], [{ kind: 3 }]])(
    'refuses %j',
    (answer) => {
      expect(persistDeciderAnswer.safeParse(answer).success).toBe(false);
    },
  );

  it('takes superseded numbers for known memories only, each once', () => {
    const answer = persistDeciderAnswer.parse({
      kind: 'LONG',
      content: 'x',
      supersedes: [2, '2', 0, 3, 1.5, null, 'x'],
    });
    expect(supersededOf(answer, [{ id: 'a' }, { id: 'b' }])).toEqual(['b']);
  });
});
