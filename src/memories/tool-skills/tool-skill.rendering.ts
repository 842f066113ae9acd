import type { Surroundings } from './tool-skill.trigger.js';

/** A line's text may begin with `{{tool NAME}}` or `{{mcp_server NAME}}`, also as an item of a list. */
const CONDITION = /^(\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)\{\{[ \t]*(tool|mcp_server)[ \t]+([^\s{}]+)[ \t]*\}\}[ \t]*/;

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * The body as one role reads it. A line with a condition stands only where the role has that tool or server, and without
 * the condition; `surroundings` null keeps them all, as nothing is known of the role.
 */
export function renderBody(
  body: string,
  { surroundings, variables }: { surroundings: Surroundings | null; variables: Readonly<Record<string, string>> },
): string {
  const lines = body.split('\n').flatMap((line) => {
    const condition = CONDITION.exec(line);
    if (!condition) return [line];
    const [mark, indent, kind, name] = condition;
    const known = kind === 'tool' ? surroundings?.tools : surroundings?.mcpServers;
    return known && !known.has(name!) ? [] : [indent! + line.slice(mark.length)];
  });
  return substitute(lines.join('\n').trim(), variables);
}

/** `${name}` becomes the variable of that name; an unknown one stays as it is, and what a variable holds is not looked into. */
export function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (literal, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? literal) : literal,
  );
}
