import type { SkillRow, SkillState } from './skill.models.js';

const DAY_MS = 24 * 3_600_000;

export interface AgeingKnobs {
  stale_after_days: number;
  archive_after_days: number;
}

/**
 * The state of a live skill by its idle time: since its last use, else since it was drafted, or since an operator brought it
 * back, whichever came last. A skill that has been idle for long enough to be archived is archived, whether or not anybody
 * has looked at it since it became stale: so one look settles everything, and a second finds nothing to do. A pinned
 * one stays as it is.
 */
export function agedState(
  skill: Pick<SkillRow, 'state' | 'pinned' | 'last_used_at' | 'created_at' | 'revived_at'>,
  now: Date,
  { stale_after_days: staleAfter, archive_after_days: archiveAfter }: AgeingKnobs,
): SkillState {
  if (skill.pinned || (skill.state !== 'active' && skill.state !== 'stale')) return skill.state;
  const active = Math.max((skill.last_used_at ?? skill.created_at).getTime(), skill.revived_at?.getTime() ?? 0);
  const idleDays = (now.getTime() - active) / DAY_MS;
  if (idleDays >= archiveAfter) return 'archived';
  return idleDays >= staleAfter ? 'stale' : 'active';
}
