import { containment, wordShingles } from '../../core/similarity/text-similarity.js';
import { procedureOf } from './skill-document.js';

/**
 * Share of the shorter of two bodies that stands in the other, in runs of three words, from which on they are one
 * procedure. Where every tenth word is another, seven tenths of the runs are left: three hold each word. What two
 * procedures of one field share is below a third. Order counts within a run alone, so exchanged steps change little.
 */
const NEAR_DUPLICATE = 0.6;

/** The skills that say what a body says already, perhaps under another name. */
export function nearDuplicates<Skill extends { content: string }>(body: string, skills: readonly Skill[]): Skill[] {
  const own = wordShingles(procedureOf(body));
  return skills.filter(({ content }) => containment(own, wordShingles(procedureOf(content))) >= NEAR_DUPLICATE);
}
