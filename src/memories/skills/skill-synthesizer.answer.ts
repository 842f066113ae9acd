import { z } from 'zod';

/** What the provider is asked for; a NOOP has `noop` alone. */
export const skillDraftFormat = z.object({
  noop: z.boolean().optional().describe('true where there is no procedure worth keeping'),
  name: z.string().optional().describe('2 to 64 lower-case letters, digits and hyphens'),
  description: z.string().optional().describe('one sentence, at most 200 characters'),
  body: z.string().optional().describe('Markdown with the sections When to use, Steps, Pitfalls'),
});

/** What is understood. A draft with a part missing is unusable: it is not guessed at. */
export const skillDraftAnswer = z.object({ name: z.string(), description: z.string(), body: z.string() });

export type SkillDraftAnswer = z.infer<typeof skillDraftAnswer>;
