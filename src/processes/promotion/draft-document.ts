import { oneLine } from '../../core/auxiliary/fence.js';
import { withoutFrontMatter } from '../../memories/skills/skill-document.js';
import type { SiblingSkill } from './promotion.models.js';

export interface DraftParts {
  id: string;
  description: string;
  /** What the model wrote. */
  body: string;
  members: readonly SiblingSkill[];
}

/** Calls and siblings that a page names; more would bury the procedure. */
const TOOLS_SHOWN = 60;
const SIBLINGS_SHOWN = 50;
const TOOL_NAME_LIMIT = 100;

/**
 * A draft in Markdown, for whatever backend there is: what it is, the procedure, the shortest tool sequence of the
 * siblings, and where it comes from (reference engine, section 12). Names of agents and skills stand in it, no person's.
 */
export function renderDraft({ id, description, body, members }: DraftParts): string {
  const tools = commonSequence(members);
  const shown = members.slice(0, SIBLINGS_SHOWN);
  return [
    `**${plain(oneLine(description))}**`,
    withoutFrontMatter(body).trim(),
    '**Common tool sequence:**',
    [...tools.slice(0, TOOLS_SHOWN).map((tool) => `- ${code(tool)}`), ...more(tools.length - TOOLS_SHOWN)].join('\n'),
    '---',
    '**Provenance (auto-drafted):**',
    [
      ...shown.map(
        (skill) => `- agent ${code(skill.agentHandle)}, skill ${code(skill.name)}, skill id ${code(skill.id)}`,
      ),
      ...more(members.length - shown.length),
      `- draft id ${code(id)}`,
    ].join('\n'),
  ].join('\n\n');
}

/** The shortest of the siblings' sequences: what the longer ones have beyond it one agent alone needed. */
export function commonSequence(members: readonly SiblingSkill[]): readonly string[] {
  return members.reduce<readonly string[]>(
    (shortest, { toolSequence }) =>
      shortest.length === 0 || toolSequence.length < shortest.length ? toolSequence : shortest,
    [],
  );
}

function more(count: number): string[] {
  return count > 0 ? [`- ${count} more`] : [];
}

/** As a code span, which no back-tick in the text ends. */
function code(text: string): string {
  return `\`${oneLine(text, TOOL_NAME_LIMIT).replaceAll('`', "'") || '?'}\``;
}

/** Text with nothing in it that Markdown would read. */
function plain(text: string): string {
  return text.replace(/[\\`*_[\]<>~|&]/g, '\\$&');
}
