import type { ToolSkill } from './tool-skill.models.js';

/** Where pages stand: the children of one page. */
export interface PagePlace {
  source: 'confluence' | 'plane';
  /** Space or project, and the title of the page above. */
  place: string;
}

export interface SkillPage {
  id: string;
  /** The skill file that the page holds. */
  text: string;
}

/** What is known of a page. */
export interface KnownPage {
  page_id: string;
  /** The last good copy; null where the page has never been a skill. */
  skill: ToolSkill | null;
  content_hash: string;
  problem: string | null;
  /** Of the last good copy, where it was flagged and an operator let it through. */
  released_hash: string | null;
}

/** What a page is now. */
export interface JudgedPage {
  id: string;
  contentHash: string;
  /** Null where it is none that may be in force. */
  skill: ToolSkill | null;
  problem: string | null;
  releasedHash: string | null;
  /** Flagged as what, and what it would be; null where it is not flagged. */
  flagged: { reason: string; skill: ToolSkill } | null;
}
