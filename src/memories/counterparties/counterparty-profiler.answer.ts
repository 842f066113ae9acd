import { z } from 'zod';

/** What the provider is asked for. */
export const counterpartyProfilerFormat = z.object({
  noop: z.boolean().nullish(),
  traits: z
    .array(
      z.object({
        key: z.string(),
        values: z.array(z.string()),
        no_longer: z.array(z.string()).nullish().describe('known values of this trait that no longer hold'),
      }),
    )
    .nullish(),
});

/** What is understood; `readPatch` keeps of it what is usable. */
export const counterpartyProfilerAnswer = z.object({ traits: z.array(z.unknown()) });
