import { rankLexically } from '../../core/retrieval/lexical-ranking.js';
import { searchTokens } from '../../core/retrieval/tokens.js';
import type { SkillSummary } from './skill.models.js';

/**
 * Skills for a trigger, the most relevant first: BM25 over name, description and tools. Those that share no word with it
 * follow, as in `mostUsedFirst`.
 *
 * @param skills in any order
 */
export function mostRelevantFirst(skills: readonly SkillSummary[], trigger: string): SkillSummary[] {
  const fallback = mostUsedFirst(skills);
  const query = new Map(searchTokens(trigger, 'query').map((token, index) => [token, index]));
  // Of equal ones the last is ranked first.
  const documents = [...fallback].reverse();
  const ranked = rankLexically(
    documents.map((skill) => {
      const tokens = searchTokens([skill.name, skill.description, ...new Set(skill.tool_sequence)].join('\n'));
      return {
        conversation: null,
        length: tokens.length,
        terms: tokens.flatMap((token) => query.get(token) ?? []),
      };
    }),
  ).map((index) => documents[index]!);
  const related = new Set(ranked);
  return [...ranked, ...fallback.filter((skill) => !related.has(skill))];
}

/** Without looking at the trigger: those in use before stale ones, then the most used, then the newest. */
export function mostUsedFirst(skills: readonly SkillSummary[]): SkillSummary[] {
  return [...skills].sort(
    (a, b) =>
      Number(a.state === 'stale') - Number(b.state === 'stale') ||
      b.use_count - a.use_count ||
      b.created_at.getTime() - a.created_at.getTime() ||
      (a.id < b.id ? 1 : -1),
  );
}
