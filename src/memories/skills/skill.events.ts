import type { SkillAuthor } from './skill-author.js';
import type { SkillChangeKind, SkillRow } from './skill.models.js';

/** What all events of a skill's state say of it. */
interface StateChange {
  agent_handle: string;
  skill_id: string;
  skill_name: string;
  last_used_at: string | null;
  transitioned_at: string;
}

declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** An agent has loaded the body of one of its skills. */
    'skill.used': { skill_name: string; skill_id: string; source_kind: 'synthesized'; file_loaded: string };
    /** A skill has a new version, whoever made it. */
    'skill.refined': {
      skill_name: string;
      skill_id: string;
      skill_version: number;
      refinement_kind: SkillChangeKind;
    };
    /** A skill that had aged, or was put away, is active again: it was used, or an operator brought it back. */
    'skill.revived': StateChange & { prior_state: 'stale' | 'archived' | 'rejected' };
    /** Nobody has used a skill for a while. */
    'skill.staled': StateChange;
    /** A skill was put away; nothing of it is deleted. */
    'skill.archived': StateChange;
  }
}

/** What the event of a change at `at` says. */
export function transitionOf(author: SkillAuthor, skill: SkillRow, at: Date): StateChange {
  return {
    agent_handle: author.agent.handle,
    skill_id: skill.id,
    skill_name: skill.name,
    last_used_at: skill.last_used_at?.toISOString() ?? null,
    transitioned_at: at.toISOString(),
  };
}
