import { Injectable } from '@nestjs/common';
import { screenText, type ScreeningVerdict } from './screening-rules.js';

/** The scan at the write boundary. What it flags goes to quarantine instead of into a memory. */
@Injectable()
export class Screening {
  /** The verdict on the first of the texts that is flagged: the parts of one write are held together. */
  check(...texts: string[]): ScreeningVerdict {
    for (const text of texts) {
      const verdict = screenText(text);
      if (verdict.flagged) return verdict;
    }
    return { flagged: false };
  }
}
