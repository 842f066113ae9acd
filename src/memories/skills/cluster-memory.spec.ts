import { describe, expect, it } from '@jest/globals';
import {
  clusterFingerprint,
  hasGrownByHalf,
  judgedBefore,
  type JudgedCluster,
  judgedCount,
  unjudgedOf,
} from './cluster-memory.js';

const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => `e${from + index}`);
const judged = (
  episodeIds: string[],
  memberCount = episodeIds.length,
  toolSequence = ['a', 'b', 'c'],
): JudgedCluster => ({
  id: episodeIds.join(),
  toolSequence,
  episodeIds,
  memberCount,
});
const cluster = (episodeIds: string[]): { toolSequence: string[]; episodeIds: string[] } => ({
  toolSequence: ['a', 'b', 'c'],
  episodeIds,
});

describe('a judged cluster', () => {
  it.each([
    [3, 0, false],
    [3, 1, false],
    [3, 2, true],
    [4, 1, false],
    [4, 2, true],
    [5, 2, false],
    [5, 3, true],
    [1, 1, true],
  ])('of %d turns with %d new ones is asked again: %s', (before, more, expected) => {
    const verdicts = [judged(ids(0, before))];
    expect(hasGrownByHalf(cluster(ids(0, before + more)), verdicts)).toBe(expected);
  });

  it('grows by what is new, although old turns leave the window', () => {
    const verdicts = [judged(ids(0, 10))];
    expect(hasGrownByHalf(cluster(ids(4, 10)), verdicts)).toBe(false);
    expect(hasGrownByHalf(cluster(ids(5, 10)), verdicts)).toBe(true);
  });

  it('counts all that was ever judged, so that questions become rarer', () => {
    const again = cluster(ids(5, 10));
    expect(judgedCount(again, [judged(ids(0, 10))])).toBe(15);
    const second = [judged(again.episodeIds, 15)];
    expect(hasGrownByHalf(cluster(ids(12, 10)), second)).toBe(false);
    expect(hasGrownByHalf(cluster(ids(13, 10)), second)).toBe(true);
  });

  it('may be several that have become one', () => {
    const both = [judged(ids(0, 3)), judged(ids(3, 3))];
    expect(hasGrownByHalf(cluster(ids(0, 8)), both)).toBe(false);
    expect(hasGrownByHalf(cluster(ids(0, 9)), both)).toBe(true);
    expect(unjudgedOf(cluster(ids(0, 8)), both)).toEqual(['e6', 'e7']);
    expect(judgedCount(cluster(ids(0, 8)), both)).toBe(8);
  });

  it('is known by tools that are near enough, whoever leads', () => {
    const known = [judged(['x'], 1, ['a', 'b', 'c', 'd']), judged(['y'], 1, ['p', 'q'])];
    expect(judgedBefore(['a', 'b', 'c', 'd', 'd'], known, 0.6).map(({ id }) => id)).toEqual(['x']);
    expect(judgedBefore(['a', 'z'], known, 0.6)).toEqual([]);
  });
});

describe('a fingerprint', () => {
  it('is the same for sequences that count as equal, and for no others', () => {
    expect(clusterFingerprint(['a', 'b', 'a', 'b', 'c'])).toBe(clusterFingerprint(['a', 'b', 'a', 'b', 'a', 'b', 'c']));
    const others = [['a', 'b'], ['b', 'a'], ['a,b'], ['a', 'b', 'c'], ['a'], []].map(clusterFingerprint);
    expect(new Set(others).size).toBe(others.length);
  });
});
