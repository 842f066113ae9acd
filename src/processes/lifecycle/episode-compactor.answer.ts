import { z } from 'zod';
import { oneLine } from '../../core/auxiliary/fence.js';
import type { CompactedSummary } from '../../memories/episodes/compaction.models.js';
import { clipText } from '../../platform/text/storable-text.js';

/** UTF-16 code units of each field, and how many subjects are kept. */
const PATTERN_LIMIT = 500;
const OUTCOME_LIMIT = 300;
const SUBJECT_LIMIT = 120;
const SUBJECTS = 20;
const NOTABLE_LIMIT = 1_000;

/** What the provider is asked for. */
export const episodeCompactorFormat = z.object({
  common_task_pattern: z.string(),
  common_outcome: z.string(),
  subjects_involved: z.array(z.string()),
  notable_patterns: z.string(),
});

/** What is understood: only the pattern cannot be missing. */
export const episodeCompactorAnswer = z.object({
  common_task_pattern: z.string().refine((pattern) => pattern.trim() !== '', 'must not be blank'),
  common_outcome: z.string().nullish(),
  subjects_involved: z.array(z.unknown()).nullish(),
  notable_patterns: z.union([z.string(), z.array(z.unknown())]).nullish(),
});

/** The answer within its bounds. */
export function summaryOf(answer: z.infer<typeof episodeCompactorAnswer>): CompactedSummary {
  const subjects = texts(answer.subjects_involved ?? []).map((subject) => oneLine(subject, SUBJECT_LIMIT));
  const notable = answer.notable_patterns ?? '';
  return {
    commonTaskPattern: oneLine(answer.common_task_pattern, PATTERN_LIMIT),
    commonOutcome: oneLine(answer.common_outcome ?? '', OUTCOME_LIMIT),
    subjectsInvolved: [...new Set(subjects)].filter((subject) => subject !== '').slice(0, SUBJECTS),
    notablePatterns: clipText(Array.isArray(notable) ? texts(notable).join('\n') : notable.trim(), NOTABLE_LIMIT),
  };
}

function texts(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}
