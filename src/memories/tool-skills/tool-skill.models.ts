import { z } from 'zod';
import { TURN_PHASES, type TurnPhase } from '../../core/turn/extension-points.js';
import type { FieldProblem } from '../../platform/http/api-error.js';
import { triggerSchema, type ToolSkillTrigger } from './tool-skill.trigger.js';

/** Guidance for a tool, or for several: shown where the role has what `trigger` asks for. */
export interface ToolSkill {
  key: string;
  trigger: ToolSkillTrigger;
  phases: TurnPhase[];
  title: string;
  /** The line that stands for the skill where its body does not. */
  summary: string;
  /** Whether the body must be read before the tool is used. */
  required: boolean;
  /** Markdown; see `renderBody` for what stands in it beside. */
  body: string;
}

/** Who says what a key means; of two that say so, the one further up this list holds. */
export const TOOL_SKILL_SOURCES = ['operator', 'confluence', 'plane', 'directory'] as const;
export type ToolSkillSource = (typeof TOOL_SKILL_SOURCES)[number];

/** A skill as it is in force, with where it comes from. */
export interface SourcedSkill extends ToolSkill {
  source: ToolSkillSource;
  /** File name or page id; null for an operator's. */
  origin: string | null;
  /** An operator has read what screening held against it. */
  released: boolean;
  /** When it was written, or when its page had changed; null for a file. */
  updatedAt: Date | null;
}

export const MAX_BODY_BYTES = 32_768;
export const MAX_SUMMARY_BYTES = 240;
const MAX_TITLE = 200;
/** Skills of one source: each plan context looks at all of them. */
export const MAX_SKILLS = 100;

/** A tool skill is the organisation's, not an agent's: the agent of one that is held in quarantine. */
export const NO_AGENT = '00000000-0000-0000-0000-000000000000';

/** Letters, digits and `: . _ -` in between: what can stand in a path and in backticks as it is. */
const KEY = /^[A-Za-z0-9](?:[A-Za-z0-9:._-]{0,126}[A-Za-z0-9])?$/;

export function isToolSkillKey(text: string): boolean {
  return KEY.test(text);
}

const line = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => text !== '' && !/[\p{Cc}\u2028\u2029]/u.test(text), {
    error: 'must be one line that is not blank',
  });

const bytes =
  (limit: number) =>
  (text: string): boolean =>
    Buffer.byteLength(text) <= limit;

/** Phases of other engines' skills that this one does not know are read and left out. */
const PHASES = [...TURN_PHASES, 'subagent'] as const;

const schema = z.strictObject({
  key: z.string().regex(KEY, {
    error: 'must have 1..128 characters, letters, digits and : . _ - alone, with a letter or digit at both ends',
  }),
  trigger: triggerSchema,
  phases: z
    .array(z.enum(PHASES, { error: `must be one of ${PHASES.join(', ')}` }))
    .min(1)
    .transform((given) => TURN_PHASES.filter((phase) => given.includes(phase))),
  title: line.refine((text) => text.length <= MAX_TITLE, { error: `must have at most ${MAX_TITLE} characters` }),
  summary: line.refine(bytes(MAX_SUMMARY_BYTES), { error: `must have at most ${MAX_SUMMARY_BYTES} bytes` }),
  required: z.boolean().default(true),
  body: z
    .string()
    .transform((text) => text.replace(/\r\n?/g, '\n').trim())
    .refine((text) => text !== '', { error: 'must not be empty' })
    .refine(bytes(MAX_BODY_BYTES), { error: `must have at most ${MAX_BODY_BYTES} bytes` }),
});

/** The skill that `value` is, or what is wrong with it, field by field. */
export function readToolSkill(
  value: unknown,
): { skill: ToolSkill; problems: [] } | { skill: null; problems: FieldProblem[] } {
  const read = schema.safeParse(value);
  if (read.success) return { skill: read.data, problems: [] };
  const problems = read.error.issues.map((issue) => ({
    path: [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String).join('.'),
    message: issue.code === 'unrecognized_keys' ? 'is not a known field' : issue.message,
  }));
  return { skill: null, problems };
}

/** By code unit, so that every machine has the same order. */
export function byKey(a: { key: string }, b: { key: string }): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
