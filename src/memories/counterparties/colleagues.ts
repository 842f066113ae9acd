import type { Member } from '../../core/organization/members.js';
import type { KnownIdentity, KnownProfile } from './counterparty-reader.js';
import { foldedName, similarityTo, SIMILAR_FROM } from './trigrams.js';

/** Share of the best similarity that others need to be candidates beside it. */
const NEAR_THE_BEST = 0.75;

/** One whom an agent may look up: a member of the organisation, an outside person whom it knows, or both at once. */
export interface Colleague {
  kind: 'agent' | 'person' | 'outside';
  handle: string | null;
  name: string | null;
  role: string | null;
  unit: string | null;
  leads: string[];
  identities: { platform: string; external_id: string }[];
  isSelf: boolean;
  /** What the asking agent observed, under whichever of the names. */
  profiles: KnownProfile[];
}

/**
 * All whom the agent may look up. A profile is shown with a member where it was stored under the member's handle, an
 * external id that the organisation's document lists for that person, or the agent's id; not if it has another external id on
 * a platform for which the document names the person's own. Everybody else whom the agent met is an outside person.
 * This joins for display alone: the profiles themselves are never auto-merged, an operator links them. Nothing but
 * the document and the agent's own profiles is looked at.
 */
export function colleaguesOf(selfId: string, members: readonly Member[], known: readonly KnownProfile[]): Colleague[] {
  const byValue = new Map<string, { profile: KnownProfile; identity: KnownIdentity }[]>();
  for (const profile of known) {
    for (const identity of profile.identities) {
      byValue.set(identity.value, [...(byValue.get(identity.value) ?? []), { profile, identity }]);
    }
  }
  const knownAs = (value: string, fits: (identity: KnownIdentity) => boolean): KnownProfile[] =>
    (byValue.get(value) ?? []).filter(({ identity }) => fits(identity)).map(({ profile }) => profile);
  const taken = new Set<KnownProfile>();
  const inside = members.map((member): Colleague => {
    const identities = member.kind === 'person' ? member.identities : [];
    const found = [
      ...knownAs(member.handle, ({ kind }) => kind === 'handle'),
      ...(member.kind === 'agent' ? knownAs(member.id, () => true) : []),
      ...identities.flatMap((listed) =>
        knownAs(listed.external_id, ({ kind, platform }) => kind === 'external_id' && platform === listed.platform),
      ),
    ];
    const profiles = [...new Set(found)].filter((profile) => !isSomebodyElse(profile, identities));
    profiles.forEach((profile) => taken.add(profile));
    return {
      kind: member.kind,
      handle: member.handle,
      name: member.kind === 'person' ? member.displayName : null,
      role: member.kind === 'agent' ? member.role : null,
      unit: member.kind === 'agent' ? member.unit : null,
      leads: member.leads,
      identities,
      isSelf: member.kind === 'agent' && member.id === selfId,
      profiles,
    };
  });
  return [...inside, ...known.filter((profile) => !taken.has(profile)).map(outsider)];
}

/**
 * Whom a query may mean: those with exactly that handle, external id (also as `platform:external_id`) or name; else
 * those in whose names it stands; else those whose names are alike, the nearest first.
 */
export function matching(query: string, colleagues: readonly Colleague[]): Colleague[] {
  const asked = query.trim().replace(/^@/, '');
  const named = colleagues.map((colleague) => ({ colleague, names: namesOf(colleague) }));
  const those = (fits: (name: string) => boolean, among = named): Colleague[] =>
    among.filter(({ names }) => names.some(fits)).map(({ colleague }) => colleague);
  const exact = those((name) => name === asked);
  if (exact.length > 0) return exact;
  const [lower, folded] = [asked.toLowerCase(), foldedName(asked)];
  const same = those((name) => name.toLowerCase() === lower || (folded !== '' && foldedName(name) === folded));
  if (same.length > 0) return same;
  const others = named.filter(({ colleague }) => !colleague.isSelf);
  const within = those((name) => name.toLowerCase().includes(lower), others);
  if (within.length > 0) return within;
  const similarity = similarityTo(asked);
  const similar = others
    .map(({ colleague, names }) => ({ colleague, similarity: Math.max(0, ...names.map(similarity)) }))
    .sort((a, b) => b.similarity - a.similarity);
  const least = Math.max(SIMILAR_FROM, (similar[0]?.similarity ?? 0) * NEAR_THE_BEST);
  return similar.filter((found) => found.similarity >= least).map(({ colleague }) => colleague);
}

function namesOf(colleague: Colleague): string[] {
  const { handle, name, identities, profiles } = colleague;
  return [
    handle,
    name,
    ...identities.flatMap(({ platform, external_id: id }) => [id, `${platform}:${id}`]),
    ...profiles.flatMap(({ view, identities: known }) => [
      view.subject_name,
      ...known.flatMap(({ platform, kind, value }) => (kind === 'handle' ? [value] : [value, `${platform}:${value}`])),
    ]),
  ].filter((text): text is string => text !== null && text !== '');
}

function outsider(profile: KnownProfile): Colleague {
  const ids = profile.identities.filter(({ kind }) => kind === 'external_id');
  return {
    kind: 'outside',
    handle: profile.view.subject_handle,
    name: profile.view.subject_name,
    role: null,
    unit: null,
    leads: [],
    identities: ids.map(({ platform, value }) => ({ platform, external_id: value })),
    isSelf: false,
    profiles: [profile],
  };
}

function isSomebodyElse(
  profile: KnownProfile,
  identities: readonly { platform: string; external_id: string }[],
): boolean {
  const ids = (platform: string): KnownIdentity[] =>
    profile.identities.filter((known) => known.kind === 'external_id' && known.platform === platform);
  const isListed = ({ platform, value }: KnownIdentity): boolean =>
    identities.some((listed) => listed.platform === platform && listed.external_id === value);
  const listed = identities.flatMap(({ platform }) => ids(platform));
  return listed.length > 0 && !listed.some(isListed);
}
