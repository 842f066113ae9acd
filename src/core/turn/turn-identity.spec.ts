import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { contentHash } from './content-hash.js';
import { notEngagedReason } from './engagement.js';
import type { Interaction } from './turn.models.js';
import { workKey } from './work-key.js';

describe('workKey', () => {
  it('depends on the set of trigger events alone', () => {
    expect(workKey(['b', 'a', 'b'])).toBe(workKey(['a', 'b']));
    expect(workKey(['a', 'b'])).toBe(createHash('sha256').update('a\nb').digest('hex').slice(0, 32));
    expect(workKey(['a'])).not.toBe(workKey(['b']));
  });

  it('is empty without trigger events', () => {
    expect(workKey([])).toBe('');
  });
});

describe('contentHash', () => {
  it('ignores the order of keys at any depth, not that of lists', () => {
    expect(contentHash({ a: 1, b: { c: [{ x: 1, y: 2 }], d: null } })).toBe(
      contentHash({ b: { d: null, c: [{ y: 2, x: 1 }] }, a: 1 }),
    );
    expect(contentHash({ a: [1, 2] })).not.toBe(contentHash({ a: [2, 1] }));
    expect(contentHash({ a: null })).not.toBe(contentHash({ a: '' }));
  });
});

describe('notEngagedReason', () => {
  const turn = { plan: { decision: 'direct' as const, summary: '' }, tool_sequence: [], plan_tool_sequence: [] };
  const said = (body: string | null): Interaction[] => [
    {
      platform: null,
      external_id: null,
      handle: 'bob',
      display_name: null,
      body,
      channel_kind: 'dm',
      requires_recon: false,
      sent_at: null,
    },
  ];

  it('stops a turn whose plan was to skip, whatever else it did', () => {
    const skipped = { ...turn, plan: { decision: 'skip' as const, summary: '' }, tool_sequence: ['x'] };
    expect(notEngagedReason({ ...skipped, interactions: said('hi') })).toBe('plan_skip');
  });

  it('lets a turn through that used a tool or was told something', () => {
    expect(notEngagedReason({ ...turn, interactions: said('I prefer tea') })).toBeNull();
    expect(notEngagedReason({ ...turn, tool_sequence: ['x'], interactions: [] })).toBeNull();
    expect(notEngagedReason({ ...turn, plan_tool_sequence: ['x'], interactions: [] })).toBeNull();
  });

  it.each([null, '', ' \n'])('stops a turn without tools where the body is %j', (body) => {
    expect(notEngagedReason({ ...turn, interactions: said(body) })).toBe('not_engaged');
  });
});
