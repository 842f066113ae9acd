import { describe, expect, it } from '@jest/globals';
import { doneRates, type TurnGroup } from './done-rates.js';

const turns = (tools: string, outcome: 'done' | 'failed', count = 1, skillsUsed: string[] = []): TurnGroup => ({
  toolSequence: tools.split(' '),
  skillsUsed,
  outcome,
  count,
});
const skill = { name: 'cancel-flight', toolSequence: ['find', 'check', 'cancel'] };

describe('done rates', () => {
  it('compare turns with a skill with turns of the same kind without one', () => {
    const rates = doneRates(
      [
        turns('find check cancel', 'done', 3, ['cancel-flight']),
        turns('something else', 'failed', 1, ['cancel-flight', 'other']),
        turns('find check cancel', 'done', 1),
        turns('find check cancel', 'failed', 3),
        turns('book pay', 'done', 50),
        turns('find check cancel', 'done', 1, ['a-skill-that-is-gone']),
      ],
      [skill],
      0.6,
    );
    expect(rates).toEqual({
      turns_with_skills: 4,
      done_rate_with_skills: 0.75,
      turns_without_skills: 5,
      done_rate_without_skills: 0.4,
    });
  });

  it('are null where there are no turns, and nothing is near a skill without tools, even at a threshold of 0', () => {
    const none = {
      turns_with_skills: 0,
      done_rate_with_skills: null,
      turns_without_skills: 0,
      done_rate_without_skills: null,
    };
    expect(doneRates([], [skill], 0.6)).toEqual(none);
    expect(doneRates([turns('a b', 'done')], [], 0.6)).toEqual(none);
    expect(doneRates([turns('a b', 'done')], [{ name: 'x-y', toolSequence: [] }], 0)).toEqual(none);
  });

  it('count a turn once, however many skills it used or is near to', () => {
    const twins = [skill, { ...skill, name: 'cancel-trip' }];
    const rates = doneRates(
      [turns('find check cancel', 'done', 1, ['cancel-flight', 'cancel-trip']), turns('find check cancel', 'failed')],
      twins,
      0.6,
    );
    expect(rates).toMatchObject({ turns_with_skills: 1, turns_without_skills: 1 });
  });
});
