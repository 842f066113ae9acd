import type { ReadableSkill } from './tool-skill.reading.js';

/** Characters of the bodies that stand in the block, with their titles. */
export const INLINE_LIMIT = 6_000;

const PREFACE = 'How your organisation wants the tools that you have to be used.';
const LOADABLE =
  'Further guidance, in one line each. `load_tool_skill` gives you the whole of it; load what is marked required before ' +
  'you use the tool that it is about.';
const IN_SHORT = 'Further guidance, in one line each.';

/**
 * The block: bodies in the order of their keys as long as the next one fits, then a line for each of the others. One that
 * is too long stands in nobody's way: shorter ones after it are still shown.
 *
 * @param skills in the order of their keys
 */
export function renderCatalogue(skills: readonly ReadableSkill[], { loadable }: { loadable: boolean }): string {
  const inline: string[] = [];
  const lines: string[] = [];
  let length = 0;
  for (const skill of skills) {
    const section = sectionOf(skill);
    const longer = length + section.length + (inline.length > 0 ? 2 : 0);
    if (longer <= INLINE_LIMIT) {
      length = longer;
      inline.push(section);
    } else {
      lines.push(`- \`${skill.key}\` - ${skill.summary}${skill.required ? ' (required)' : ''}`);
    }
  }
  const rest = lines.length > 0 ? [loadable ? LOADABLE : IN_SHORT, lines.join('\n')] : [];
  return [PREFACE, ...inline, ...rest].join('\n\n');
}

function sectionOf(skill: ReadableSkill): string {
  return `### ${skill.title} (\`${skill.key}\`)\n\n${skill.body}`;
}
