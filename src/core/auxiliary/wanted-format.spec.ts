import { describe, expect, it } from '@jest/globals';
import { z, type ZodType } from 'zod';
import { jsonSchemaOf } from '../../platform/llm/output-format.js';
import { wantedFormat } from './wanted-format.js';

const schemaOf = (schema: ZodType, shape: 'object' | 'array' = 'object'): unknown => {
  const format = wantedFormat(schema, shape);
  return format && jsonSchemaOf(format);
};

describe('the format that a provider is asked for', () => {
  it('lets the model say NOOP instead', () => {
    expect(schemaOf(z.object({ name: z.string(), body: z.string().max(5) }))).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        name: { type: 'string' },
        body: { type: 'string', description: '{maxLength: 5}' },
        noop: { type: 'boolean' },
      },
    });
  });

  it('wraps a list', () => {
    expect(schemaOf(z.array(z.unknown()), 'array')).toMatchObject({
      type: 'object',
      required: ['selected'],
      properties: { selected: { type: 'array', items: { type: 'integer' } } },
    });
  });

  it('takes objects with rules across their fields', () => {
    const refined = z.object({ note: z.string() }).refine(({ note }) => note !== '');
    expect(schemaOf(refined)).toMatchObject({ properties: { note: { type: 'string' } } });
  });

  it('is none where JSON Schema has no words for it', () => {
    expect(schemaOf(z.object({ at: z.string().transform(Number) }))).toBeUndefined();
    expect(schemaOf(z.object({ anything: z.unknown() }))).toBeUndefined();
    expect(schemaOf(z.string())).toBeUndefined();
  });
});
