import { z } from 'zod';

export const EXPORT_TYPE = 'agent_learning_export';
/** Raised where a reader of the older form would go wrong. */
export const EXPORT_VERSION = 1;

/** The first line of an export. */
export const exportHeader = z.object({
  type: z.literal(EXPORT_TYPE),
  version: z.literal(EXPORT_VERSION),
  agent: z.object({ id: z.uuid(), handle: z.string(), role: z.string().min(1) }),
  exported_at: z.string().optional(),
  /** Lines that follow, by type. */
  lines: z.record(z.string(), z.number().int().nonnegative()).optional(),
});

export type ExportHeader = z.infer<typeof exportHeader>;
