import { createHash } from 'node:crypto';
import type { UnitChain } from '../../core/organization/unit-chains.js';

/**
 * The place that an agent was onboarded for: sha-256, hex, of the JSON list of the organisation's name, the units' names
 * from the outermost to the innermost, and the role's name. What the Onboarding pages say is not part of it: an edit of
 * a page onboards nobody again (mission, "Prompt scaffolding").
 */
export function chainHash({ organization, units, role }: UnitChain): string {
  return createHash('sha256')
    .update(JSON.stringify([organization, ...units, role]))
    .digest('hex');
}
