/** Names that a skill may have; others are refused, not mended (HTTP contract, "Tools"). */
const SKILL_NAME = /^[a-z0-9][a-z0-9-]{0,62}[a-z0-9]$/;
/** Characters of a description. */
const DESCRIPTION_LIMIT = 400;

/** Why a write to an agent's skills is refused; also the reason that a reflection worker ends with. */
export type SkillRule =
  | 'invalid_name'
  | 'invalid_description'
  | 'empty_body'
  | 'body_too_long'
  | 'skill_cap'
  | 'name_taken'
  | 'stale_version'
  | 'pinned'
  | 'unknown_version'
  | 'unknown_skill';

/** `message` says what is wrong and what to do about it, for a model or an operator. */
export interface SkillProblem {
  rule: SkillRule;
  message: string;
}

/** Unicode characters, as a person and Postgres count them. */
export function charactersOf(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

export function nameProblem(name: string): SkillProblem | null {
  if (SKILL_NAME.test(name)) return null;
  return {
    rule: 'invalid_name',
    message: 'name must be 2 to 64 lower-case letters, digits and hyphens, with no hyphen at either end',
  };
}

export function descriptionProblem(description: string): SkillProblem | null {
  const size = charactersOf(description);
  if (description.trim() !== '' && size <= DESCRIPTION_LIMIT) return null;
  return {
    rule: 'invalid_description',
    message: `description must have 1 to ${DESCRIPTION_LIMIT} characters and not be blank; it has ${size}`,
  };
}

/**
 * A body beyond `limit` is refused whole, never clipped: what a cut would lose is the newest lesson.
 *
 * @param limit characters (`skill_refinement.max_body_chars`)
 */
export function bodyProblem(content: string, limit: number): SkillProblem | null {
  if (content.trim() === '') return { rule: 'empty_body', message: 'content must not be blank' };
  const size = charactersOf(content);
  if (size <= limit) return null;
  return {
    rule: 'body_too_long',
    message:
      `content may have at most ${limit} characters and would have ${size}: ` +
      'rewrite the body shorter (action replace_body, or PUT of the skill), or put a part of it into a skill of its own',
  };
}

/** A problem as the detail of an answer. */
export function detailOf({ message }: SkillProblem): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** The first rule that a whole skill breaks; null where it may be stored. */
export function skillProblem(
  skill: { name: string; description: string; content: string },
  limit: number,
): SkillProblem | null {
  return nameProblem(skill.name) ?? descriptionProblem(skill.description) ?? bodyProblem(skill.content, limit);
}
