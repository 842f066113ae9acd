import { Injectable } from '@nestjs/common';
import { screenText, type ScreeningVerdict } from './screening-rules.js';
import type { TextKind } from './text-kind.js';

/** The scan at the write boundary. What it flags goes to quarantine instead of into a memory. */
@Injectable()
export class Screening {
  /** The verdict on the first of the texts that is flagged: the parts of one write are held together. */
  check(...texts: string[]): ScreeningVerdict {
    return verdictOn(texts, 'fact');
  }

  /** The same for the parts of a skill, which may order its reader what to do and to say, but set no trap. */
  checkProcedure(...texts: string[]): ScreeningVerdict {
    return verdictOn(texts, 'procedure');
  }
}

function verdictOn(texts: readonly string[], kind: TextKind): ScreeningVerdict {
  for (const text of texts) {
    const verdict = screenText(text, kind);
    if (verdict.flagged) return verdict;
  }
  return { flagged: false };
}
