import { describe, expect, it } from '@jest/globals';
import { agedState } from './skill-ageing.js';
import type { SkillState } from './skill.models.js';

const now = new Date('2026-12-01T00:00:00Z');
const ago = (days: number): Date => new Date(now.getTime() - days * 24 * 3_600_000);
const knobs = { stale_after_days: 30, archive_after_days: 90 };
const skill = (state: SkillState, changes: object = {}) => ({
  state,
  pinned: false,
  created_at: ago(500),
  last_used_at: null as Date | null,
  revived_at: null as Date | null,
  ...changes,
});

describe('agedState', () => {
  it.each<[SkillState, number, SkillState]>([
    ['active', 0, 'active'],
    ['active', 29.9, 'active'],
    ['active', 30, 'stale'],
    ['active', 89.9, 'stale'],
    ['active', 90, 'archived'],
    ['active', 200, 'archived'],
    ['stale', 10, 'active'],
    ['stale', 30, 'stale'],
    ['stale', 90, 'archived'],
    ['archived', 0, 'archived'],
    ['rejected', 200, 'rejected'],
  ])('of %s, last used %d days ago, is %s', (state, days, expected) => {
    expect(agedState(skill(state, { last_used_at: ago(days) }), now, knobs)).toBe(expected);
    expect(agedState(skill(state, { created_at: ago(days) }), now, knobs)).toBe(expected);
  });

  it('stays what it is once it was looked at', () => {
    for (const days of [0, 29, 30, 60, 90, 300]) {
      const once = agedState(skill('active', { last_used_at: ago(days) }), now, knobs);
      expect(agedState(skill(once, { last_used_at: ago(days) }), now, knobs)).toBe(once);
    }
  });

  it('counts from when an operator brought it back', () => {
    expect(agedState(skill('active', { revived_at: ago(5) }), now, knobs)).toBe('active');
    expect(agedState(skill('active', { revived_at: ago(40) }), now, knobs)).toBe('stale');
    expect(agedState(skill('active', { revived_at: ago(300), last_used_at: ago(5) }), now, knobs)).toBe('active');
  });

  it('does not touch what is pinned', () => {
    for (const state of ['active', 'stale'] as const)
      expect(agedState(skill(state, { pinned: true }), now, knobs)).toBe(state);
  });

  it('archives at once where both terms are the same', () => {
    const same = { stale_after_days: 30, archive_after_days: 30 };
    expect(agedState(skill('active', { last_used_at: ago(30) }), now, same)).toBe('archived');
  });
});
