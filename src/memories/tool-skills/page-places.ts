import type { Settings } from '../../platform/config/settings.js';
import type { PagePlace } from './page-skills.js';

/** The places of learning.yaml, in the order in which they hold. */
export function pagePlaces({ tool_skills: { confluence, plane } }: Settings): PagePlace[] {
  return [
    ...(confluence ? [placeOf('confluence', confluence.space, confluence.parent)] : []),
    ...(plane ? [placeOf('plane', plane.project, plane.parent)] : []),
  ];
}

function placeOf(source: PagePlace['source'], container: string, parent: string): PagePlace {
  return { source, place: JSON.stringify([container, parent]) };
}
