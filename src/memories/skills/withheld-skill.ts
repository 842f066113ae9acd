import { screenText } from '../../core/screening/screening-rules.js';
import type { SkillRow } from './skill.models.js';

/**
 * Why a stored skill does not reach a prompt: it is flagged by now. Null where it may, as it may where an operator has let
 * it through.
 */
export function withheldReason(skill: SkillRow): string | null {
  if (skill.operator_released) return null;
  const verdict = screenText(`${skill.description}\n${skill.content}`, 'procedure');
  return verdict.flagged ? verdict.reason : null;
}
