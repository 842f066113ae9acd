import { ApiProperty } from '@nestjs/swagger';
import type { ExportLine, ImportOutcome } from '../../core/personal-data/personal-data.models.js';

/** Lines of which the report says why they were left out or held. */
const DETAILS = 100;

export interface LineDetail {
  line: number;
  type: string;
  reason: string;
}

/** What became of the lines of a file, by type. */
export class ImportReport {
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' } })
  imported: Record<string, number>;

  /** There already, or not to be taken in; `details` says why. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' } })
  skipped: Record<string, number>;

  /** Flagged by the screening; an operator releases or discards them. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' } })
  quarantined: Record<string, number>;

  /** Lines that the header announces and the file does not have. */
  missing: number;

  /** Of the first hundred that were skipped for another reason than being there already, or held. */
  @ApiProperty({ type: 'array', items: { type: 'object' } })
  details: LineDetail[];
}

export class ImportTally {
  private readonly counts: Record<ImportOutcome['status'], Record<string, number>> = {
    imported: {},
    skipped: {},
    quarantined: {},
  };
  private readonly details: LineDetail[] = [];
  private lines = 0;

  constructor(private readonly announced: Readonly<Record<string, number>>) {}

  add({ number, value }: { number: number; value: ExportLine }, outcome: ImportOutcome): void {
    this.lines += 1;
    const counts = this.counts[outcome.status];
    counts[value.type] = (counts[value.type] ?? 0) + 1;
    if (outcome.status === 'imported' || outcome.reason === 'already_there') return;
    if (this.details.length < DETAILS) {
      this.details.push({ line: number, type: value.type, reason: outcome.reason });
    }
  }

  report(): ImportReport {
    const announced = Object.values(this.announced).reduce((sum, count) => sum + count, 0);
    return { ...this.counts, missing: Math.max(0, announced - this.lines), details: this.details };
  }
}
