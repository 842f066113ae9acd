import { stringify } from 'yaml';
import { charactersOf } from './skill.rules.js';

/** Source turns that a document names; the row keeps them all. */
const SOURCES_SHOWN = 10;

export interface SkillDocumentParts {
  name: string;
  description: string;
  /** What the model wrote: when to use it, steps, pitfalls. */
  body: string;
  /** In the order in which they are to be named. */
  sourceTurnIds: readonly string[];
}

/**
 * A skill as a SKILL.md: front matter with name, description and source turns, then the body, which ends the document so that
 * what is noted in use is added to it. Deterministic. Where the whole would pass `limit` characters the source turns are
 * left out, then the front matter, both of which stand in columns of their own; the body never is.
 */
export function renderSkillDocument(
  { name, description, body, sourceTurnIds }: SkillDocumentParts,
  limit: number,
): string {
  const text = withoutFrontMatter(body).trim();
  const sources = sourceTurnIds.slice(0, SOURCES_SHOWN);
  return (
    [
      { name, description, source_turns: sources },
      { name, description },
    ]
      .map((fields) => `---\n${stringify(fields, UNFOLDED)}---\n\n${text}`)
      .find((document) => charactersOf(document) <= limit) ?? text
  );
}

/** The procedure in a document alone: no front matter, headings and list marks, which skills share or count otherwise. */
export function procedureOf(content: string): string {
  return withoutFrontMatter(content)
    .replace(/^[ \t]*#{1,6}[ \t].*$/gm, '')
    .replace(/^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+/gm, '');
}

/** Without it a long description stands on several lines. */
const UNFOLDED = { lineWidth: 0 };

/** The body of a SKILL.md; models like to begin it with a front matter of their own. */
export function withoutFrontMatter(text: string): string {
  return text.replace(/^\s*---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/, '');
}
