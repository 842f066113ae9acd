import { parse } from 'yaml';
import { readToolSkill, type ToolSkill } from './tool-skill.models.js';

/** `skill` or, in words for whoever edits it, why it is none. */
export type ReadSkill = { skill: ToolSkill; problem: null } | { skill: null; problem: string };

/** Bytes of a whole file: the largest body, and a header. */
export const MAX_FILE_BYTES = 65_536;

const FENCE = /^---[ \t]*$/;

/**
 * Reads Markdown with YAML frontmatter: `key`, `trigger`, `phases`, `title` and `summary`, and `required` where it is not
 * true; the body follows. The format is described in `docs/tool-skills.md`.
 */
export function readSkillFile(text: string): ReadSkill {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) return none(`is larger than ${MAX_FILE_BYTES} bytes`);
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .trimStart()
    .split('\n');
  const end = FENCE.test(lines[0]!) ? lines.findIndex((line, index) => index > 0 && FENCE.test(line)) : -1;
  if (end < 0) return none('does not begin with YAML between two lines of ---');
  let header: unknown;
  try {
    // An alias inside an alias inside an alias is a bomb, and nobody needs one here.
    header = parse(lines.slice(1, end).join('\n'), { maxAliasCount: 0, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    return none(`has frontmatter that is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    return none('has frontmatter that is not a mapping');
  }
  if (Object.hasOwn(header, 'body')) return none('has the unknown key body in its frontmatter');
  const { skill, problems } = readToolSkill({ ...header, body: lines.slice(end + 1).join('\n') });
  if (skill) return { skill, problem: null };
  return none(problems.map(({ path, message }) => `${path === '' ? '' : `${path}: `}${message}`).join('; '));
}

function none(problem: string): ReadSkill {
  return { skill: null, problem };
}
