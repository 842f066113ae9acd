import { describe, expect, it } from '@jest/globals';
import type { Member } from '../../core/organization/members.js';
import { colleaguesOf, matching } from './colleagues.js';
import type { KnownIdentity, KnownProfile } from './counterparty-reader.js';
import { SIMILAR_FROM, similarityTo } from './trigrams.js';

const agent = (handle: string): Member => ({
  kind: 'agent',
  id: `id-of-${handle}`,
  handle,
  role: 'support',
  unit: null,
  leads: [],
});
const person = (handle: string, displayName: string | null, ...identities: [string, string][]): Member => ({
  kind: 'person',
  handle,
  displayName,
  leads: [],
  identities: identities.map(([platform, external_id]) => ({ platform, external_id })),
});
const profile = (name: string, ...identities: [KnownIdentity['kind'], string, string][]): KnownProfile => ({
  view: { id: name, subject_name: name || null, subject_handle: null } as KnownProfile['view'],
  identities: identities.map(([kind, platform, value]) => ({ kind, platform, value })),
});

const members = [
  agent('support-1'),
  agent('support-2'),
  person('bob', 'Bob Roe', ['slack', 'U1'], ['jira', 'bob-roe']),
  person('ann', 'Änn Mayer'),
  person('anna', 'Anna Meyer'),
];
const known = [
  profile('B.', ['external_id', 'jira', 'bob-roe']),
  profile('Bobby', ['handle', 'github', 'bob']),
  profile('Other Bob', ['external_id', 'slack', 'U9'], ['handle', 'slack', 'bob']),
  profile('', ['external_id', 'a2a', 'id-of-support-2']),
  profile('Carol Outside', ['external_id', 'email', 'carol@example.com']),
];
const colleagues = colleaguesOf('id-of-support-1', members, known);
const found = (query: string): (string | null)[] =>
  matching(query, colleagues).map(({ handle, name }) => handle ?? name);
const profilesOf = (handle: string): string[] =>
  colleagues.find((colleague) => colleague.handle === handle)!.profiles.map(({ view }) => view.id);

describe('colleagues', () => {
  it('have the profiles stored under any of their names, but not those of somebody else with their handle', () => {
    expect(profilesOf('bob').sort()).toEqual(['B.', 'Bobby']);
    expect(profilesOf('support-2')).toEqual(['']);
    expect(colleagues.filter(({ kind }) => kind === 'outside').map(({ name }) => name)).toEqual([
      'Other Bob',
      'Carol Outside',
    ]);
  });

  it.each([
    ['bob', ['bob', 'Other Bob']],
    ['@bob', ['bob', 'Other Bob']],
    ['slack:U1', ['bob']],
    ['U1', ['bob']],
    ['BOB-ROE', ['bob']],
    ['Bob Roe', ['bob']],
    ['bob  roe', ['bob']],
    ['ann', ['ann']],
    ['ann mayer', ['ann']],
    ['carol@example.com', ['Carol Outside']],
    ['outside', ['Carol Outside']],
    ['Karol Outsied', ['Carol Outside']],
    ['Ana Meier', ['anna']],
    ['support', ['support-2']],
    ['support-1', ['support-1']],
    ['qqq', []],
    ['%', []],
    ['_', []],
  ])('%s means %j', (query, expected) => {
    expect(found(query)).toEqual(expected);
  });
});

describe('names', () => {
  it('are alike by what they share, without case and accents', () => {
    expect(similarityTo('Änn')('ann')).toBe(1);
    expect(similarityTo('Jon Smth')('John Smith')).toBeGreaterThanOrEqual(SIMILAR_FROM);
    expect(similarityTo('alise')('Alice Johnson')).toBeGreaterThanOrEqual(SIMILAR_FROM);
    expect(similarityTo('bob')('Rob')).toBeLessThan(SIMILAR_FROM);
    expect(similarityTo('張偉')('張偉')).toBe(1);
    expect(similarityTo('!!')('bob')).toBe(0);
  });
});
