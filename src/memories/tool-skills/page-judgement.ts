import { createHash } from 'node:crypto';
import { screenText } from '../../core/screening/screening-rules.js';
import type { JudgedPage, KnownPage, SkillPage } from './page-skills.models.js';
import { readSkillFile } from './tool-skill.format.js';

/**
 * What each page of a place is now, in the order of their ids. Of two pages with one key the first holds. Text that an
 * operator has released is not flagged again as long as it stands unchanged.
 */
export function judgePages(pages: readonly SkillPage[], known: ReadonlyMap<string, KnownPage>): JudgedPage[] {
  const owners = new Map<string, string>();
  return [...pages]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((page) => {
      const judged = judge(page, known.get(page.id));
      const owner = judged.skill && owners.get(judged.skill.key);
      if (owner) return { ...judged, problem: `has the key ${judged.skill!.key} of page ${owner}, which holds` };
      if (judged.skill) owners.set(judged.skill.key, page.id);
      return judged;
    });
}

function judge({ id, text }: SkillPage, known: KnownPage | undefined): JudgedPage {
  const contentHash = createHash('sha256').update(text).digest('hex');
  const none = { id, contentHash, skill: null, releasedHash: null };
  const { skill, problem } = readSkillFile(text);
  if (!skill) return { ...none, problem, flagged: null };
  const released = known?.released_hash === contentHash;
  const verdict = screenText(`${skill.title}\n${skill.summary}\n${skill.body}`, 'procedure');
  if (verdict.flagged && !released) {
    return { ...none, problem: verdict.detail, flagged: { reason: verdict.reason, skill } };
  }
  return { id, contentHash, skill, problem: null, releasedHash: released ? contentHash : null, flagged: null };
}
