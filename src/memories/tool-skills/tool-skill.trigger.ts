import { z } from 'zod';

/** When a skill concerns a role: it has the tool, it has the MCP server, or some or all of further triggers hold. */
export type ToolSkillTrigger =
  { tool: string } | { mcp_server: string } | { any_of: ToolSkillTrigger[] } | { all_of: ToolSkillTrigger[] };

/** What a role has in a turn. */
export interface Surroundings {
  tools: ReadonlySet<string>;
  mcpServers: ReadonlySet<string>;
}

/** Triggers inside triggers, and triggers in one list: far above any use, far below what costs time. */
const MAX_DEPTH = 8;
const MAX_BRANCHES = 50;
const MAX_NAME = 500;

const FORM = 'must have exactly one of tool, mcp_server, any_of, all_of';

const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  .refine((text) => text.trim() === text && !/\p{Cc}/u.test(text), {
    error: 'must be a name without spaces around it',
  });

function triggerOf(depth: number): z.ZodType<ToolSkillTrigger> {
  const leaves = [z.strictObject({ tool: name }), z.strictObject({ mcp_server: name })] as const;
  if (depth === MAX_DEPTH) return z.union(leaves, { error: `nests deeper than ${MAX_DEPTH} levels, or ${FORM}` });
  const branches = z.lazy(() =>
    z
      .array(triggerOf(depth + 1))
      .min(1)
      .max(MAX_BRANCHES),
  );
  return z.union([...leaves, z.strictObject({ any_of: branches }), z.strictObject({ all_of: branches })], {
    error: FORM,
  });
}

/** Extra keys are refused at every level, so that a typo never widens or narrows a trigger unseen. */
export const triggerSchema: z.ZodType<ToolSkillTrigger> = triggerOf(1);

/** Names match exactly. */
export function isTriggered(trigger: ToolSkillTrigger, role: Surroundings): boolean {
  if ('tool' in trigger) return role.tools.has(trigger.tool);
  if ('mcp_server' in trigger) return role.mcpServers.has(trigger.mcp_server);
  if ('any_of' in trigger) return trigger.any_of.some((inner) => isTriggered(inner, role));
  return trigger.all_of.every((inner) => isTriggered(inner, role));
}
