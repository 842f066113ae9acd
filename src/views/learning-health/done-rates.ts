import { jaccard, toolShingles } from '../../core/similarity/tool-similarity.js';

/** Equal turns of one agent. */
export interface TurnGroup {
  toolSequence: readonly string[];
  skillsUsed: readonly string[];
  outcome: 'done' | 'failed';
  count: number;
}

export interface LiveSkill {
  name: string;
  /** Empty where an operator wrote the skill: nothing is near it then. */
  toolSequence: readonly string[];
}

/** How turns that used a skill ended, beside turns of the same kind that used none. A rate of no turns is null. */
export interface DoneRates {
  turns_with_skills: number;
  done_rate_with_skills: number | null;
  turns_without_skills: number;
  done_rate_without_skills: number | null;
}

/**
 * Whether skills earn their keep (Berlot-Attwell et al., 2024: a library may seem to help although nothing in it is
 * reused). Compared are the turns that used one of the skills and those that used none and whose tool sequence is as near
 * to one of the skills' as `threshold` asks; turns from before the skills were drafted are among the latter.
 */
export function doneRates(turns: readonly TurnGroup[], skills: readonly LiveSkill[], threshold: number): DoneRates {
  const names = new Set(skills.map(({ name }) => name));
  const procedures = skills.map(({ toolSequence }) => toolShingles(toolSequence)).filter(({ size }) => size > 0);
  const nearOne = (toolSequence: readonly string[]): boolean => {
    const shingles = toolShingles(toolSequence);
    return procedures.some((procedure) => {
      const similarity = jaccard(procedure, shingles);
      return similarity > 0 && similarity >= threshold;
    });
  };
  const used = turns.filter(({ skillsUsed }) => skillsUsed.some((name) => names.has(name)));
  const alike = turns.filter(
    ({ skillsUsed, toolSequence }) => !skillsUsed.some((name) => names.has(name)) && nearOne(toolSequence),
  );
  return {
    turns_with_skills: countOf(used),
    done_rate_with_skills: doneRate(used),
    turns_without_skills: countOf(alike),
    done_rate_without_skills: doneRate(alike),
  };
}

function doneRate(turns: readonly TurnGroup[]): number | null {
  const all = countOf(turns);
  return all === 0 ? null : countOf(turns.filter(({ outcome }) => outcome === 'done')) / all;
}

function countOf(turns: readonly TurnGroup[]): number {
  return turns.reduce((sum, { count }) => sum + count, 0);
}
