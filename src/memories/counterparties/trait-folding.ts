import { keySameness, MAX_KEYS, MAX_VALUES, sameness, type TraitPatch } from './trait-patch.js';

/** Days after which a sighting of a trait weighs half: what nobody confirmed for a quarter gives way to what is new. */
const HALF_LIFE_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1000;

/** One observation of a counterparty. */
export interface Observation extends TraitPatch {
  observedAt: Date;
  /** Null where it came of no trigger. */
  triggerKey: string | null;
  source: 'profiler' | 'operator' | 'import';
}

export interface TraitValue {
  value: string;
  /** Distinct triggers that it was seen in since it last became current. */
  count: number;
  last_seen_at: string;
}

export type Traits = Record<string, TraitValue[]>;

interface Current {
  /** As it was written last. */
  value: string;
  sightings: Map<string, Date>;
  lastSeenAt: Date;
  byOperator: boolean;
}

interface Trait {
  /** As it was written first. */
  key: string;
  isList: boolean;
  values: Map<string, Current>;
}

/**
 * What holds of a counterparty, given all that was ever observed of it, in whatever order it was written down:
 *
 * - Observations count in the order of `observedAt`: one of an earlier turn that comes late changes nothing that a
 *   later turn has said.
 * - A trait with a plural name (`topics_of_interest`, `past_decisions`) is a list; so is any other from the first
 *   observation on that gives it two values or more. A list gains values. Each other trait has one value at a time:
 *   another value contradicts it and takes its place. So does what an observation says no longer holds.
 * - What left stays in the observations. A value seen in several triggers is corroborated: `count` says in how many.
 * - An operator's edit of a trait is all that holds of it from then on, an empty one removes it; observations after
 *   the edit go on from there.
 * - Of more than 16 traits, or 20 values of one, those stay that weigh most: each sighting weighs one, half as much for every
 *   90 days that it is older than the newest observation. What an operator wrote stays before all others.
 *
 * @param observations in the order of time; equal times in the order given
 */
export function foldTraits(observations: readonly Observation[]): Traits {
  const inOrder = [...observations].sort((a, b) => a.observedAt.getTime() - b.observedAt.getTime());
  const traits = new Map<string, Trait>();
  for (const observation of inOrder) {
    for (const [key, values] of Object.entries(observation.noLonger)) {
      const known = traits.get(keySameness(key));
      values.forEach((value) => known?.values.delete(sameness(value)));
    }
    for (const [key, values] of Object.entries(observation.traits)) observe(traits, key, values, observation);
  }
  return strongest(traits, inOrder.at(-1)?.observedAt ?? new Date(0));
}

/** True where the head of the name, before `of`, `in` and the like, is a plural. */
export function isPlural(key: string): boolean {
  const [head = ''] = keySameness(key).split(/_(?:of|for|in|on|at|about|with|to|by|from|as)(?:_|$)/u);
  const word = head.split('_').at(-1) ?? '';
  return word.length > 3 && word.endsWith('s') && !/(?:ss|us|is)$/u.test(word);
}

function observe(
  traits: Map<string, Trait>,
  key: string,
  values: readonly string[],
  { observedAt, triggerKey, source }: Observation,
): void {
  const id = keySameness(key);
  const trait = traits.get(id) ?? { key, isList: isPlural(key), values: new Map<string, Current>() };
  traits.set(id, trait);
  const edited = source === 'operator';
  const told = new Map(values.map((value) => [sameness(value), value]));
  if (edited || !trait.isList) {
    for (const known of trait.values.keys()) if (!told.has(known)) trait.values.delete(known);
  }
  trait.isList ||= told.size > 1;
  for (const [same, value] of told) {
    const current = trait.values.get(same);
    const sightings = current?.sightings ?? new Map<string, Date>();
    if (triggerKey !== null || sightings.size === 0) sightings.set(triggerKey ?? '', observedAt);
    const byOperator = edited || (current?.byOperator ?? false);
    trait.values.set(same, { value, sightings, lastSeenAt: observedAt, byOperator });
  }
}

function strongest(traits: ReadonlyMap<string, Trait>, newest: Date): Traits {
  const weighed = [...traits.values()].flatMap(({ key, values }) => {
    const ranked = [...values.values()]
      .map((current) => ({ current, weight: weightOf(current, newest) }))
      .sort((a, b) => b.weight - a.weight || (a.current.value < b.current.value ? -1 : 1))
      .slice(0, MAX_VALUES);
    return ranked.length === 0 ? [] : [{ key, ranked, weight: ranked[0]!.weight }];
  });
  const kept = weighed.sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1)).slice(0, MAX_KEYS);
  return Object.fromEntries(
    kept.map(({ key, ranked }) => [
      key,
      ranked.map(({ current: { value, sightings, lastSeenAt } }) => ({
        value,
        count: sightings.size,
        last_seen_at: lastSeenAt.toISOString(),
      })),
    ]),
  );
}

function weightOf({ sightings, byOperator }: Current, newest: Date): number {
  if (byOperator) return Number.MAX_VALUE;
  const ages = [...sightings.values()].map((seen) => (newest.getTime() - seen.getTime()) / DAY_MS);
  return ages.reduce((sum, age) => sum + 0.5 ** (age / HALF_LIFE_DAYS), 0);
}
