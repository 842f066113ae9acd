import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldTraits, isPlural, type Observation, type Traits } from './trait-folding.js';
import type { TraitValues } from './trait-patch.js';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse('2026-01-01T00:00:00Z');
const at = (day: number): Date => new Date(START + day * DAY);

const seen = (day: number, traits: TraitValues, more: Partial<Observation> = {}): Observation => ({
  traits,
  noLonger: {},
  observedAt: at(day),
  triggerKey: `trigger-${day}`,
  source: 'profiler',
  ...more,
});
const edited = (day: number, traits: TraitValues): Observation =>
  seen(day, traits, { source: 'operator', triggerKey: null });

const valuesOf = (traits: Traits): Record<string, string[]> =>
  Object.fromEntries(Object.entries(traits).map(([key, values]) => [key, values.map(({ value }) => value)]));
const folded = (...observations: Observation[]): Record<string, string[]> => valuesOf(foldTraits(observations));

describe('a trait with a singular name', () => {
  it('holds one value: another contradicts it and takes its place', () => {
    expect(folded(seen(1, { language: ['German'] }), seen(2, { language: ['English'] }))).toEqual({
      language: ['English'],
    });
  });

  it('is corroborated by the same value, whatever its case and space', () => {
    const traits = foldTraits([seen(1, { style: ['Short answers.'] }), seen(2, { style: ['short  answers'] })]);
    expect(traits).toEqual({ style: [{ value: 'short  answers', count: 2, last_seen_at: at(2).toISOString() }] });
  });

  it('is named in one of several spellings', () => {
    expect(folded(seen(1, { 'Preferred style': ['long'] }), seen(2, { preferred_style: ['short'] }))).toEqual({
      'Preferred style': ['short'],
    });
  });

  it('becomes a list once it is given two values at a time, and what had left stays out', () => {
    expect(
      folded(
        seen(1, { expertise: ['Java'] }),
        seen(2, { expertise: ['Postgres'] }),
        seen(3, { expertise: ['Postgres', 'Kubernetes'] }),
        seen(4, { expertise: ['Terraform'] }),
      ).expertise!.sort(),
    ).toEqual(['Kubernetes', 'Postgres', 'Terraform']);
  });
});

describe('a list', () => {
  it('gains values', () => {
    expect(folded(seen(1, { topics: ['billing'] }), seen(2, { topics: ['refunds'] })).topics!.sort()).toEqual([
      'billing',
      'refunds',
    ]);
  });

  it('loses what is said to hold no longer', () => {
    const gone = seen(2, { likes: ['Thai food'] }, { noLonger: { likes: ['chinese food'] } });
    expect(folded(seen(1, { likes: ['Chinese food', 'tea'] }), gone).likes!.sort()).toEqual(['Thai food', 'tea']);
    expect(folded(seen(1, { likes: ['tea'] }), seen(2, {}, { noLonger: { likes: ['tea'] } }))).toEqual({});
  });

  it.each([
    ['topics_of_interest', true],
    ['past decisions', true],
    ['sensitivities', true],
    ['areas_of_expertise', true],
    ['communication_style', false],
    ['preferred-language', false],
    ['address', false],
    ['status', false],
    ['point_of_contact_for_refunds', false],
    ['', false],
  ])('is told by its name: %s %s', (key, plural) => {
    expect(isPlural(key)).toBe(plural);
  });
});

describe('observations', () => {
  it('of an earlier turn that come late do not win over newer ones', () => {
    const [old, newer] = [seen(1, { language: ['German'] }), seen(5, { language: ['English'] })];
    expect(foldTraits([newer, old])).toEqual(foldTraits([old, newer]));
    expect(folded(newer, old)).toEqual({ language: ['English'] });
  });

  it('of two tries of one piece of work count once', () => {
    const again = { triggerKey: 'work' };
    const traits = foldTraits([seen(1, { language: ['German'] }, again), seen(2, { language: ['German'] }, again)]);
    expect(traits.language).toEqual([{ value: 'German', count: 1, last_seen_at: at(2).toISOString() }]);
  });

  it('come out the same in whatever order they are written down', () => {
    const value = fc.constantFrom('a', 'b', 'c', 'd');
    const patch = fc.dictionary(
      fc.constantFrom('style', 'topics', 'role', '__proto__'),
      fc.array(value, { maxLength: 3 }),
    );
    const observation = fc.record({
      traits: patch,
      noLonger: patch,
      triggerKey: fc.constantFrom(null, 't1', 't2', 't3'),
      source: fc.constantFrom('profiler' as const, 'operator' as const, 'import' as const),
    });
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (given, order) => {
        const observations = given.map((one, day): Observation => ({ ...one, observedAt: at(day) }));
        const shuffled = observations
          .map((one) => ({ one, place: order.next().value! }))
          .sort((a, b) => a.place - b.place)
          .map(({ one }) => one);
        expect(foldTraits(shuffled)).toEqual(foldTraits(observations));
      }),
    );
  });
});

describe('an operator’s edit', () => {
  it('is all that holds until newer observations contradict it', () => {
    const before = [seen(1, { topics: ['billing'], role: ['buyer'] }), seen(2, { topics: ['refunds'] })];
    const edit = edited(3, { topics: ['shipping'], role: ['seller'] });
    expect(folded(...before, edit)).toEqual({ topics: ['shipping'], role: ['seller'] });
    expect(folded(...before, edit, seen(2.5, { role: ['buyer'], topics: ['billing'] }))).toEqual({
      topics: ['shipping'],
      role: ['seller'],
    });
    expect(folded(...before, edit, seen(4, { role: ['owner'], topics: ['returns'] }))).toEqual({
      topics: ['shipping', 'returns'],
      role: ['owner'],
    });
  });

  it('that is empty removes a trait until it is seen again', () => {
    const removed = [seen(1, { role: ['buyer'], topics: ['billing'] }), edited(2, { role: [] })];
    expect(folded(...removed)).toEqual({ topics: ['billing'] });
    expect(folded(...removed, seen(3, { role: ['seller'] }))).toMatchObject({ role: ['seller'] });
  });

  it('is not crowded out', () => {
    const crowd = Array.from({ length: 40 }, (_, day) =>
      seen(day + 2, { [`trait_${day}`]: ['x'], topics: [`t${day}`] }),
    );
    const traits = folded(edited(1, { pinned: ['yes'], topics: ['first'] }), ...crowd);
    expect(traits.pinned).toEqual(['yes']);
    expect(traits.topics![0]).toBe('first');
  });
});

describe('the bounds', () => {
  it('keep sixteen traits and twenty values: those seen often and lately', () => {
    const traits = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`old_${n}`, ['x']]));
    const often = Array.from({ length: 5 }, (_, day) => seen(day, { role: ['buyer'] }));
    const result = folded(...often, seen(6, traits), seen(200, { fresh: ['y'] }));
    expect(Object.keys(result)).toHaveLength(16);
    expect(result).toMatchObject({ role: ['buyer'], fresh: ['y'] });
    const many = Array.from({ length: 30 }, (_, day) => seen(day, { topics: [`topic ${day}`] }));
    expect(folded(...many).topics).toHaveLength(20);
    expect(folded(...many).topics![0]).toBe('topic 29');
  });

  it('hold for hostile keys', () => {
    const hostile = JSON.parse('{"__proto__": ["x"], "constructor": ["y"]}') as TraitValues;
    expect(Object.entries(folded(seen(1, hostile)))).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ]);
  });
});
