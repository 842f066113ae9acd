import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { JudgedCluster } from './cluster-memory.js';
import { ownerOf } from './skill-author.js';
import { SkillClusterVerdicts } from './skill-cluster-verdicts.js';
import type { DraftedSkill, SourceTurns, SynthesisRule } from './skill-synthesis.models.js';
import type { SkillOwner } from './skill.models.js';
import { DraftAdmission } from './draft-admission.js';

export interface JudgedDraft {
  draft: DraftedSkill;
  /** The verdicts on its turns so far, which the one on this draft replaces. */
  judged: readonly JudgedCluster[];
}

/** How a draft ended: as a skill, in quarantine, or refused by a rule. */
export type DraftEnd = { outcome: 'done'; reason?: 'quarantined' } | { outcome: 'noop'; reason: SynthesisRule };

/**
 * The write boundary of drafted skills: what is flagged waits in quarantine. The verdict on the turns commits with
 * whatever became of the draft. Every method joins the running transaction.
 */
@Injectable()
export class ScreenedDrafts implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'skill_draft';

  constructor(
    private readonly admission: DraftAdmission,
    private readonly verdicts: SkillClusterVerdicts,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  async settle({ draft, judged }: JudgedDraft): Promise<DraftEnd> {
    const owner = ownerOf(draft);
    const verdict = { ...owner, source: draft.source, replaces: judged };
    const problem = await this.admission.problem(draft);
    if (problem) {
      // Turns that are gone are no cluster any more, and those that are left were not judged.
      if (problem !== 'sources_gone') await this.refuse(owner, { source: draft.source, judged, reason: problem });
      return { outcome: 'noop', reason: problem };
    }
    const flag = this.screening.checkProcedure(draft.name, draft.description, draft.content);
    if (flag.flagged) {
      await this.hold(draft, flag.reason);
      await this.verdicts.record({ ...verdict, verdict: 'quarantined', reason: flag.reason, skillId: null });
      return { outcome: 'done', reason: 'quarantined' };
    }
    const skill = await this.admission.create(draft, false);
    await this.verdicts.record({ ...verdict, verdict: 'learned', reason: null, skillId: skill.id });
    return { outcome: 'done' };
  }

  /** Remembers that nothing came of these turns. `reason` null: the model saw nothing to learn. */
  async refuse(
    owner: SkillOwner,
    refused: { source: SourceTurns; judged: readonly JudgedCluster[]; reason: string | null },
  ): Promise<void> {
    const { source, judged, reason } = refused;
    await this.verdicts.record({ ...owner, source, replaces: judged, verdict: 'refused', reason, skillId: null });
  }

  /** @throws ApiError 409 `quarantine.stale` where it can no longer become a skill */
  async apply({ payload }: HeldWrite): Promise<void> {
    const draft = payload as DraftedSkill;
    const problem = await this.admission.conflict(draft);
    if (problem) {
      throw new ApiError(
        409,
        'quarantine.stale',
        `The draft can no longer become a skill (${problem}): the agent's other skills have changed. Discard it, or make room first.`,
      );
    }
    const skill = await this.admission.create(draft, true);
    const verdict = { ...ownerOf(draft), source: draft.source, replaces: [] };
    await this.verdicts.record({ ...verdict, verdict: 'learned', reason: null, skillId: skill.id });
  }

  private async hold(draft: DraftedSkill, reason: string): Promise<void> {
    await this.quarantine.hold({
      ...ownerOf(draft),
      turnId: draft.turnId ?? draft.source.turnIds[0] ?? null,
      kind: this.kind,
      reason,
      content: `${draft.name}: ${draft.description}\n\n${draft.content}`,
      payload: draft,
      sameness: { name: draft.name, description: draft.description, content: draft.content },
    });
  }
}
