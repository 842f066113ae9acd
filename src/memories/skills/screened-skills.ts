import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ownerOf, type SkillAuthor } from './skill-author.js';
import type { SkillRow } from './skill.models.js';
import { SkillWriter, type SkillAppend, type SkillReplace, type SkillWriteResult } from './skill-writer.js';
import { SynthesizedSkillStore, type SkillCreation, type SkillDraft } from './synthesized-skill.store.js';

export interface HeldSkill {
  status: 'quarantined';
  quarantineId: string;
  reason: string;
}

type HeldPayload =
  { operation: 'create'; draft: SkillDraft } | { operation: 'edit'; author: SkillAuthor; edit: ScreenedEdit };
type ScreenedEdit = SkillAppend | SkillReplace;

/**
 * The write boundary of skills: names, descriptions, bodies and notes are screened, and what is flagged waits in
 * quarantine. Every method joins the running transaction.
 */
@Injectable()
export class ScreenedSkills implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'skill';

  constructor(
    private readonly store: SynthesizedSkillStore,
    private readonly writer: SkillWriter,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** A draft that a rule refuses is refused, flagged or not. `turnId` is the one turn that it comes from, if it is one. */
  async create(draft: SkillDraft, turnId: string | null): Promise<SkillCreation | HeldSkill> {
    const verdict = this.screening.checkProcedure(draft.name, draft.description, draft.content);
    if (!verdict.flagged) return this.store.create(draft);
    const problem = await this.store.problemOf(draft);
    if (problem) return { status: 'refused', ...problem };
    const { name, description, content } = draft;
    return this.hold(draft, {
      turnId,
      reason: verdict.reason,
      content: `${name}: ${description}\n\n${content}`,
      payload: { operation: 'create', draft },
      sameness: { operation: 'create', name, description, content },
    });
  }

  /**
   * A flagged body that waits is carried out on the version that is live now, or not at all: what is noted meanwhile must
   * not be overwritten by it.
   */
  async edit(author: SkillAuthor, edit: ScreenedEdit): Promise<SkillWriteResult | HeldSkill> {
    const written = edit.operation === 'append' ? edit.text : edit.content;
    const described = edit.operation === 'append' ? '' : (edit.description ?? '');
    const verdict = this.screening.checkProcedure(written, described, edit.note ?? '');
    if (!verdict.flagged) return this.writer.edit(author, edit);
    const owner = ownerOf(author);
    const skill = await this.store.lock(owner, edit.skillId);
    const isStale = edit.baseVersion !== null && edit.baseVersion !== skill?.version;
    if (!skill || isStale) return this.writer.edit(author, edit);
    const { operation, skillId } = edit;
    const { agent, orgId, turnId, traceId, spanId } = author;
    return this.hold(owner, {
      turnId,
      reason: verdict.reason,
      content: [`${skill.name}: ${described}`, written, edit.note === null ? '' : `Note: ${edit.note}`]
        .filter((part) => part !== '')
        .join('\n\n'),
      payload: { operation: 'edit', author: { agent, orgId, turnId, traceId, spanId }, edit: heldBack(edit, skill) },
      sameness: { operation, skillId, written, described, note: edit.note },
    });
  }

  /** @throws ApiError 409 `quarantine.stale` where a rule on version, name, cap or size no longer lets it */
  async apply({ payload }: HeldWrite): Promise<void> {
    const held = payload as HeldPayload;
    const result =
      held.operation === 'create'
        ? await this.store.create({ ...held.draft, operatorReleased: true })
        : await this.writer.edit(held.author, asReleased(held.edit), { released: true });
    if (result.status !== 'refused') return;
    throw new ApiError(409, 'quarantine.stale', `The skill can no longer be written like this: ${result.message}.`);
  }

  private async hold(
    owner: { orgId: string; agentId: string },
    flagged: { turnId: string | null; reason: string; content: string; payload: HeldPayload; sameness: unknown },
  ): Promise<HeldSkill> {
    const { orgId, agentId } = owner;
    const quarantineId = await this.quarantine.hold({ orgId, agentId, kind: this.kind, ...flagged });
    return { status: 'quarantined', quarantineId, reason: flagged.reason };
  }
}

/** A replacement is one of the version that it was written for; a line can be added to any. */
function heldBack(edit: ScreenedEdit, { version }: SkillRow): ScreenedEdit {
  return { ...edit, baseVersion: edit.operation === 'replace' ? version : null };
}

/** Once an operator has said yes, nobody can say that it was not asked for. */
function asReleased(edit: ScreenedEdit): ScreenedEdit {
  return edit.operation === 'append' ? { ...edit, automatic: false } : edit;
}
