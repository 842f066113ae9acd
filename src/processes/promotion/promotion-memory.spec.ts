import { describe, expect, it } from '@jest/globals';
import { convergingClusters, identityOf } from './promotion-memory.js';
import type { KnownPromotion, PromotionState, SiblingSkill, SkillCluster } from './promotion.models.js';

const skill = (id: string, changes: Partial<SiblingSkill> = {}): SiblingSkill => ({
  id,
  agentId: `agent-of-${id}`,
  agentHandle: `agent-of-${id}`,
  name: 'refund',
  description: '',
  content: '',
  toolSequence: ['find', 'refund'],
  sourceTurnIds: [],
  live: true,
  operatorReleased: false,
  ...changes,
});
const ids = (skills: readonly SiblingSkill[]): string[] => skills.map(({ id }) => id);
const cluster = (members: string[], kin: string[] = []): SkillCluster => ({
  members: members.map((id) => skill(id)),
  kin: kin.map((id) => skill(id, { live: false })),
});
const known = (id: string, state: PromotionState, memberSkillIds: string[]): KnownPromotion => ({
  id,
  state,
  memberSkillIds,
});

describe('convergingClusters', () => {
  const options = { threshold: 0.6, minAgents: 3 };

  it('counts agents, not skills, and no skill that is put away', () => {
    const twice = [skill('a'), skill('b'), skill('c', { agentId: 'agent-of-b' })];
    expect(convergingClusters(twice, options)).toEqual([]);
    expect(convergingClusters([...twice, skill('d', { live: false })], options)).toEqual([]);
    const [found] = convergingClusters([...twice, skill('d'), skill('z', { live: false })], options);
    expect([ids(found!.members), ids(found!.kin)]).toEqual([['a', 'b', 'c', 'd'].sort(), ['z']]);
  });

  it('does not depend on the order, and takes nothing without tools for alike', () => {
    const skills = [
      skill('a'),
      skill('b'),
      skill('c'),
      skill('d', { toolSequence: ['other'] }),
      skill('e', { toolSequence: [] }),
      skill('f', { toolSequence: ['other'], live: false }),
      skill('g', { toolSequence: [], live: false }),
    ];
    const found = convergingClusters(skills, options);
    expect(found.map(({ members, kin }) => [ids(members), ids(kin)])).toEqual([[['a', 'b', 'c'], []]]);
    expect(convergingClusters([...skills].reverse(), options)).toEqual(found);
    expect(convergingClusters(skills, { ...options, threshold: 0 }).flatMap(({ kin }) => ids(kin))).not.toContain('g');
  });
});

describe('identityOf', () => {
  it('is new where nothing is shared', () => {
    const earlier = [known('p', 'published', ['x'])];
    expect(identityOf(cluster(['a', 'b', 'c']), earlier)).toEqual({ status: 'new', replaces: [] });
  });

  it.each(['published', 'drafted', 'quarantined'] as const)(
    'is the earlier one that is %s, however few stay',
    (state) => {
      const earlier = [known('p', state, ['a', 'x', 'y'])];
      expect(identityOf(cluster(['a', 'b', 'c', 'd', 'e']), earlier)).toEqual({
        status: 'known',
        promotions: earlier,
        joined: ['b', 'c', 'd', 'e'],
      });
    },
  );

  it('is known by what was put away, which does not join it', () => {
    const earlier = [known('p', 'published', ['x'])];
    expect(identityOf(cluster(['a', 'b', 'c'], ['x', 'w']), earlier)).toMatchObject({
      status: 'known',
      joined: ['a', 'b', 'c'],
    });
  });

  it('is both where two that have drafts grow into one, and known where one of them was refused', () => {
    const [one, two, no] = [known('1', 'published', ['a']), known('2', 'drafted', ['b']), known('3', 'refused', ['c'])];
    expect(identityOf(cluster(['a', 'b', 'c', 'd']), [one, two, no])).toEqual({
      status: 'known',
      promotions: [one, two],
      joined: ['c', 'd'],
    });
  });

  it('is looked at again once half as many have joined as were refused in all', () => {
    const earlier = [known('1', 'refused', ['a', 'b', 'c']), known('2', 'refused', ['d', 'e', 'f'])];
    expect(identityOf(cluster(['a', 'd', 'g', 'h']), earlier)).toEqual({ status: 'refused' });
    expect(identityOf(cluster(['a', 'd', 'g', 'h', 'i']), earlier)).toEqual({ status: 'new', replaces: earlier });
    expect(identityOf(cluster(['a', 'b', 'c', 'g']), [earlier[0]!])).toEqual({ status: 'refused' });
  });
});
