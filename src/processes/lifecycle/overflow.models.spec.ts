import { describe, expect, it } from '@jest/globals';
import { exemplarCount } from '../../memories/episodes/compaction.models.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';
import { planOverflow, rowsToFree, type ClusterRules } from './overflow.models.js';

function episode(index: number, tools: string, engaged = true): RawEpisode {
  const at = new Date(Date.UTC(2026, 0, 1) + index * 60_000);
  return {
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    turnId: `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    conversationId: null,
    engaged,
    taskSummary: `task ${index}`,
    planSummary: '',
    toolSequence: tools === '' ? [] : tools.split(' '),
    skillsUsed: [],
    reviewOutcome: 'done',
    startedAt: at,
    endedAt: at,
    durationMs: 0,
    sourceTurnIds: [],
    digest: '',
  };
}

const rules: ClusterRules = { threshold: 0.6, minSize: 3, exemplars: 2 };
const episodes = (...tools: string[]): RawEpisode[] => tools.map((names, index) => episode(index, names));

describe('planOverflow', () => {
  it('takes the oldest, and no more than are needed', () => {
    const plan = planOverflow(episodes('a', 'b', 'c', 'd', 'e'), 2, rules);
    expect(plan.clusters).toEqual([]);
    expect(plan.leftovers.map(({ toolSequence: [tool] }) => tool)).toEqual(['a', 'b']);
  });

  it('takes others in the place of exemplars, which stay', () => {
    const plan = planOverflow(episodes('a', 'a', 'a', 'a', 'a', 'a', 'a'), 3, rules);
    expect(plan.clusters.map(({ members }) => members.length)).toEqual([5]);
    expect(plan.leftovers).toEqual([]);
  });

  it('keeps turns that taught nothing apart', () => {
    const rows = [episode(0, 'a', false), episode(1, 'a', false), episode(2, 'a', false), episode(3, 'b')];
    const plan = planOverflow(rows, 4, rules);
    expect({ clusters: plan.clusters, idle: plan.idle.length, leftovers: plan.leftovers.length }).toEqual({
      clusters: [],
      idle: 3,
      leftovers: 1,
    });
  });

  it('of fewer rows than are needed takes all', () => {
    expect(planOverflow(episodes('a', 'b'), 5, rules).leftovers).toHaveLength(2);
    expect(planOverflow([], 5, rules)).toEqual({ clusters: [], leftovers: [], idle: [] });
  });

  it('frees what is needed from as many rows as are to be read for it, each taken once', () => {
    for (const exemplars of [0, 1, 2, 5, 10]) {
      for (const minSize of [2, 3, 4]) {
        for (let seed = 1; seed <= 40; seed++) {
          const some = { threshold: 0.6, minSize, exemplars };
          const need = 1 + (seed % 7);
          const rows = Array.from({ length: rowsToFree(need, some) }, (_, index) =>
            episode(index, `tool-${(index * seed) % (1 + (seed % 5))}`, (index * seed) % 11 !== 0),
          );
          const { clusters, leftovers, idle } = planOverflow(rows, need, some);
          const taken = [...clusters.flatMap(({ members }) => members), ...leftovers, ...idle];
          const kept = clusters.reduce((sum, { members }) => sum + exemplarCount(members.length, exemplars), 0);
          expect(new Set(taken).size).toBe(taken.length);
          expect(taken.length - kept).toBeGreaterThanOrEqual(need);
        }
      }
    }
  });
});
