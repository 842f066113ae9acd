import { z } from 'zod';

const kinds = ['NOOP', 'LONG', 'SHORT', 'DOC'] as const;
export type PersistKind = (typeof kinds)[number];

/** What the provider is asked for. */
export const persistDeciderFormat = z.object({
  kind: z.enum(kinds),
  content: z.string().nullish(),
  ttl_days: z.int().nullish().describe('SHORT only: days after the turn, 1 to 180'),
  target_hint: z.string().nullish().describe('DOC only'),
  rationale: z.string().nullish().describe('DOC only'),
  supersedes: z.array(z.int()).nullish().describe('numbers of known memories that no longer hold'),
});

/** What is understood: a number in words or quotes does not spoil an answer whose meaning is plain. */
export const persistDeciderAnswer = z.object({
  kind: z
    .preprocess(
      (kind) => (typeof kind === 'string' ? kind.trim().toUpperCase() || null : kind),
      z.enum(kinds).nullable(),
    )
    .optional(),
  content: z.string().nullish(),
  ttl_days: z.unknown().optional(),
  target_hint: z.string().nullish(),
  rationale: z.string().nullish(),
  supersedes: z.array(z.unknown()).nullish(),
});

export type PersistDeciderAnswer = z.infer<typeof persistDeciderAnswer>;

/** The known memories that an answer names; a number that stands for none is dropped. */
export function supersededOf(answer: PersistDeciderAnswer, known: readonly { id: string }[]): string[] {
  const numbers = (answer.supersedes ?? []).map(Number).filter((number) => Number.isInteger(number));
  return [...new Set(numbers.flatMap((number) => known[number - 1]?.id ?? []))];
}
