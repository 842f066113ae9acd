import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import type { ZodType } from 'zod';

/**
 * The JSON Schema of `schema` in the subset that constrained decoding knows: bounds move into descriptions and objects
 * are closed. Throws on a schema that JSON Schema cannot express (a transform).
 */
export function jsonSchemaOf(schema: ZodType): Record<string, unknown> {
  return zodOutputFormat(schema).schema;
}

const NAMES_THE_FORMAT = /response_format|output_config|output_format|json_schema|structured.?output|guided|grammar/i;

/** True where a server refuses the request because of the output format that it asked for. */
export function refusesFormat(error: unknown): boolean {
  return (
    error instanceof Error && 'status' in error && Number(error.status) >= 400 && NAMES_THE_FORMAT.test(error.message)
  );
}
