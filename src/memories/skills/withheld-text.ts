import { screenText } from '../../core/screening/screening-rules.js';
import type { SkillRow } from './skill.models.js';

/**
 * Why stored text of a skill does not reach a prompt: it is flagged by now. Null where it may, as it may where an operator
 * has let it through.
 */
export function withheldReason(skill: Pick<SkillRow, 'operator_released'>, text: string): string | null {
  const verdict = skill.operator_released ? null : screenText(text);
  return verdict?.flagged ? verdict.reason : null;
}
