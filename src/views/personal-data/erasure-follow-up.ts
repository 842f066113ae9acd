import { Injectable } from '@nestjs/common';
import type { ErasedSubject } from '../../core/personal-data/erased-subject.js';
import { EmbedMissingJob } from '../../platform/embeddings/embed-missing.job.js';
import { JobErasure } from '../../platform/jobs/job-erasure.js';

/** What an erasure does to the work in the background. Joins the running transaction. */
@Injectable()
export class ErasureFollowUp {
  constructor(
    private readonly jobs: JobErasure,
    private readonly embedMissing: EmbedMissingJob,
  ) {}

  ofAgent(orgId: string, agentId: string): Promise<number> {
    return this.jobs.ofAgent(orgId, agentId);
  }

  async ofSubject(orgId: string, subject: ErasedSubject): Promise<number> {
    const ofTurns = await this.jobs.ofTurns(orgId, subject.soleTurnIds);
    const pattern = subject.sqlPattern;
    const withNames = pattern === null ? 0 : await this.jobs.withError(orgId, pattern);
    // Redacted texts have lost their vectors.
    await this.embedMissing.request();
    return ofTurns + withNames;
  }
}
