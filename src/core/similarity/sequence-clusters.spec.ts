import { describe, expect, it } from '@jest/globals';
import { clusterSequences, type ToolTrajectory } from './sequence-clusters.js';
import { jaccard, toolShingles, toolSimilarity } from './tool-similarity.js';

const items = (...sequences: string[]): ToolTrajectory[] =>
  sequences.map((sequence, index) => ({
    id: String(index).padStart(5, '0'),
    toolSequence: sequence === '' ? [] : sequence.split(' '),
  }));

/** A fixed stream of numbers in 0..1 (mulberry32), so that a failure comes again. */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled<Value>(values: readonly Value[], next: () => number): Value[] {
  return values
    .map((value) => ({ value, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

const shapeOf = (clusters: { members: ToolTrajectory[] }[]): string[][] =>
  clusters.map(({ members }) => members.map(({ id }) => id));

describe('toolSimilarity', () => {
  it.each([
    ['a b c', 'a b c', 1],
    ['a b c', 'c b a', 3 / 11],
    ['a b c', 'a b d', 4 / 10],
    ['a', 'a a', 3 / 4],
    ['a', 'a b', 2 / 6],
    ['a b', 'c d', 0],
    ['', '', 0],
    ['a', '', 0],
  ])('of "%s" and "%s" is %d', (a, b, expected) => {
    const [first, second] = items(a, b);
    expect(toolSimilarity(first!.toolSequence, second!.toolSequence)).toBe(expected);
  });
});

describe('clusterSequences', () => {
  it('takes equal and similar sequences together and leaves the others alone', () => {
    const clusters = clusterSequences(items('a b c d', 'a b c d', 'x y', 'a b c d e', 'x y'), { threshold: 0.6 });
    expect(shapeOf(clusters)).toEqual([
      ['00000', '00001', '00003'],
      ['00002', '00004'],
    ]);
    expect(clusters[0]!.leader.toolSequence).toEqual(['a', 'b', 'c', 'd']);
  });

  it('joins at exactly the threshold', () => {
    const near = items('a b c d e', 'a b c d e', 'a b c d e f f');
    expect(toolSimilarity(near[0]!.toolSequence, near[2]!.toolSequence)).toBe(10 / 15);
    expect(shapeOf(clusterSequences(near, { threshold: 10 / 15 }))).toEqual([['00000', '00001', '00002']]);
    expect(clusterSequences(near, { threshold: 0.67 })).toHaveLength(2);
  });

  it('leaves out what used no tools, and clusters that are too small', () => {
    expect(clusterSequences(items('', '', ''), { threshold: 0 })).toEqual([]);
    expect(shapeOf(clusterSequences(items('a', 'a', 'b'), { threshold: 0.6, minSize: 2 }))).toEqual([
      ['00000', '00001'],
    ]);
  });

  it('joins everything at a threshold of 0 and only equal shingles at 1', () => {
    const all = items('a', 'b', 'a b', 'a b');
    expect(shapeOf(clusterSequences(all, { threshold: 0 }))).toHaveLength(1);
    expect(shapeOf(clusterSequences(all, { threshold: 1 }))).toEqual([['00002', '00003'], ['00000'], ['00001']]);
  });

  it('holds names that look like the parts of an object apart', () => {
    expect(clusterSequences(items('a,b', 'a b', '__proto__', 'constructor'), { threshold: 1 })).toHaveLength(4);
  });

  it('answers the same in whatever order the items come', () => {
    const next = random(7);
    const tools = 'abcdefghij'.split('');
    const all = items(
      ...Array.from({ length: 300 }, () =>
        shuffled(tools, next)
          .slice(0, 2 + Math.floor(next() * 6))
          .join(' '),
      ),
    );
    const once = shapeOf(clusterSequences(all, { threshold: 0.6 }));
    for (let round = 0; round < 20; round++) {
      expect(shapeOf(clusterSequences(shuffled(all, next), { threshold: 0.6 }))).toEqual(once);
    }
  });

  it('finds by its index what a comparison with every leader finds', () => {
    const next = random(11);
    const tools = 'abcdefghijklmnop'.split('');
    for (const threshold of [0.2, 0.5, 0.6, 0.8, 1]) {
      const all = items(
        ...Array.from({ length: 200 }, () =>
          shuffled(tools, next)
            .slice(0, 1 + Math.floor(next() * 9))
            .join(' '),
        ),
      );
      const clusters = clusterSequences(all, { threshold });
      const leaders = clusters.map(({ leader }) => toolShingles(leader.toolSequence));
      for (const [index, { members }] of clusters.entries()) {
        for (const { toolSequence } of members) {
          const own = jaccard(toolShingles(toolSequence), leaders[index]!);
          expect(own).toBeGreaterThanOrEqual(threshold);
        }
      }
      // Nobody leads who could have joined one that led before.
      for (const [index, leader] of leaders.entries()) {
        const others = leaders.filter((_, other) => other !== index);
        expect(Math.max(0, ...others.map((other) => jaccard(leader, other)))).toBeLessThan(threshold);
      }
      expect(clusters.flatMap(({ members }) => members)).toHaveLength(all.length);
    }
  });

  it('ends with a hundred thousand sets that share one tool: comparing each with each would take minutes', () => {
    const all = items(...Array.from({ length: 100_000 }, (_, index) => `common rare-${index} other-${index}`));
    expect(clusterSequences(all, { threshold: 0.6 })).toHaveLength(100_000);
  });
});
