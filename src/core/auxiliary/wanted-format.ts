import { z, type ZodType } from 'zod';
import type { AnswerShape } from '../../platform/llm/answers.js';
import { jsonSchemaOf } from '../../platform/llm/output-format.js';

const NUMBERS = z.object({ selected: z.array(z.int()) });

/**
 * The form that a provider is asked for, given what the answer must fit. With constrained decoding a model can write
 * neither NOOP nor an array at the root: so every property is optional beside `noop`, and a list is wrapped as
 * `{selected: [...]}`. undefined where JSON Schema cannot express the schema; the prompt then states the form alone.
 */
export function wantedFormat(schema: ZodType, shape: AnswerShape): ZodType | undefined {
  if (shape === 'array') return NUMBERS;
  if (!(schema instanceof z.ZodObject)) return undefined;
  const shapeOf = schema.shape as z.ZodRawShape;
  const format = z.object(shapeOf).partial().extend({ noop: z.boolean().optional() });
  return isExpressible(format) ? format : undefined;
}

function isExpressible(schema: ZodType): boolean {
  try {
    jsonSchemaOf(schema);
    return true;
  } catch (error) {
    // the only thing that it throws, for transforms and properties of any type
    if (error instanceof Error) return false;
    throw error;
  }
}
