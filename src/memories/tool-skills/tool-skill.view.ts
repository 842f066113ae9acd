import type { TurnPhase } from '../../core/turn/extension-points.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { isToolSkillKey, type SourcedSkill, type ToolSkillSource } from './tool-skill.models.js';
import type { ToolSkillTrigger } from './tool-skill.trigger.js';

/** A tool skill on the wire. */
export interface ToolSkillView {
  key: string;
  trigger: ToolSkillTrigger;
  phases: TurnPhase[];
  title: string;
  summary: string;
  required: boolean;
  /** As it was written: with its conditions and variables. */
  body: string;
  source: ToolSkillSource;
  /** File name or page id; null for an operator's. */
  origin: string | null;
  /** When it was written, or when its page had changed; null for a file. */
  updated_at: string | null;
}

export function viewOf({ released: _, updatedAt, ...skill }: SourcedSkill): ToolSkillView {
  return { ...skill, updated_at: updatedAt?.toISOString() ?? null };
}

/** One page of skills that stand in the order of their keys; the cursor is the last key shown. */
export function pageByKey(skills: readonly SourcedSkill[], { limit, cursor }: PageRequest): Page<ToolSkillView> {
  const after = cursor === undefined ? '' : keyIn(cursor);
  const left = skills.filter(({ key }) => key > after);
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(viewOf),
    next_cursor: last && left.length > limit ? cursorOf(last.key) : null,
    total: skills.length,
  };
}

/** No key holds the mark, so that a cursor of another list is not taken for one of this. */
const MARK = 'key=';

function cursorOf(key: string): string {
  return Buffer.from(`${MARK}${key}`, 'latin1').toString('base64url');
}

function keyIn(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const key = text.slice(MARK.length);
  if (text.startsWith(MARK) && isToolSkillKey(key)) return key;
  throw invalidRequest([{ path: 'cursor', message: 'cursor must be the next_cursor of a page of this list' }]);
}
