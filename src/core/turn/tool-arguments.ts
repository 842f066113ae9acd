import { z, type ZodObject } from 'zod';
import type { ToolDefinition, ToolResult } from './extension-points.js';

/** One schema is the definition that the model is given and the check of what it sends. */
export function toolDefinition(tool: { name: string; description: string; arguments: ZodObject }): ToolDefinition {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.arguments.strict(), { io: 'input' });
  return { name: tool.name, description: tool.description, input_schema: schema };
}

/** The arguments, or an answer that names each wrong one, so that a model can mend its call. */
export function readArguments<Schema extends ZodObject>(
  schema: Schema,
  given: Record<string, unknown>,
): { ok: true; value: z.output<Schema> } | { ok: false; error: ToolResult } {
  const result = schema.strict().safeParse(withoutNulls(given));
  if (result.success) return { ok: true, value: result.data as z.output<Schema> };
  const problems = result.error.issues.map((issue) => {
    const path = issue.path.join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  return { ok: false, error: toolError(`Wrong arguments. ${problems.join('; ')}.`) };
}

export function toolError(output: string, data: Record<string, unknown> | null = null): ToolResult {
  return { output, is_error: true, data };
}

/** Models write null for an argument that they leave out. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
