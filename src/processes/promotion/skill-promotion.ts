import { Injectable } from '@nestjs/common';
import { LearningGate } from '../../core/organization/learning-gate.js';
import type { JobOutcome } from '../../platform/jobs/job.models.js';
import { ClusterDrafting } from './cluster-drafting.js';
import { DraftPublication, type FailedPublication } from './draft-publication.js';
import { PromotionAuthors } from './promotion-authors.js';
import { PromotionClusters } from './promotion-clusters.js';
import type { PromotionUnit } from './promotion.models.js';

/**
 * Cross-agent promotion (mission, "SkillSynthesizer"): what enough different members of a unit have learned by themselves
 * becomes one draft page for the unit, for ever.
 */
@Injectable()
export class SkillPromotion {
  constructor(
    private readonly clusters: PromotionClusters,
    private readonly authors: PromotionAuthors,
    private readonly drafting: ClusterDrafting,
    private readonly publication: DraftPublication,
    private readonly gate: LearningGate,
  ) {}

  /**
   * Writes what waits, then looks for what is new. Each draft commits by itself, so a run that is broken off goes on
   * with the next one.
   *
   * @throws AuxiliaryUnavailable if no provider replied; what a page could not be written for, where a wait may help
   */
  async run(unit: PromotionUnit, signal: AbortSignal): Promise<JobOutcome> {
    const failures = await this.publication.publishWaiting(unit, signal);
    if (failures.some(({ blocked }) => blocked)) return endOf(failures);
    const clusters = await this.clusters.open(unit);
    const container = clusters.length > 0 ? this.publication.containerOf(unit) : null;
    const author = container === null ? null : await this.authors.of(unit);
    if (container === null || !author) return endOf(failures);
    return this.gate.pass(author.agent, async () => {
      for (const cluster of clusters) {
        signal.throwIfAborted();
        const wait = await this.gate.overBudget(author.agent);
        if (wait) return wait;
        const draft = await this.drafting.draft(unit, cluster, { ...author, signal });
        const end = draft && (await this.publication.publish(unit, { draft, container, signal }));
        if (end?.status === 'failed') failures.push(end);
        if (end?.status === 'failed' && end.blocked) break;
      }
      return endOf(failures);
    });
  }
}

/** What passes by is thrown, so that the job tries again; a refusal waits, visible, for the next look or an operator. */
function endOf(failures: readonly FailedPublication[]): JobOutcome {
  const passing = failures.find((failure) => failure.passing);
  if (passing) throw passing.error;
  if (failures.length === 0) return { status: 'done' };
  return { status: 'dead', error: failures.map(({ error }) => error.message).join('; ') };
}
