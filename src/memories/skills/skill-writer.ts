import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { aboutSkill, ownerOf, type SkillAuthor } from './skill-author.js';
import './skill.events.js';
import { SkillHistory, type SkillChange } from './skill.history.js';
import { isLive, type SkillChangeKind, type SkillRow } from './skill.models.js';
import { appended, repeatsLines, saysAlready } from './skill-notes.js';
import { bodyProblem, descriptionProblem, type SkillProblem } from './skill.rules.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** `unchanged`: it reads so already. */
export type SkillWriteResult =
  { status: 'written' | 'unchanged'; skill: SkillRow } | ({ status: 'refused'; skill: SkillRow | null } & SkillProblem);

/** Lines for the end of a body. */
export interface SkillAppend {
  operation: 'append';
  skillId: string;
  text: string;
  kind: SkillChangeKind;
  note: string | null;
  /** Nobody asked for it: what is pinned or edited by an operator is left alone. */
  automatic: boolean;
  /** As in `SkillReplace`. */
  baseVersion: number | null;
}

/** Another body, and perhaps another description, in the place of what is there. */
export interface SkillReplace {
  operation: 'replace';
  skillId: string;
  content: string;
  /** Null keeps it. */
  description: string | null;
  /** Refused unless this is the live version; null takes whatever is there, and the history keeps that. */
  baseVersion: number | null;
  kind: SkillChangeKind;
  note: string | null;
  byOperator: boolean;
}

/** A forward step to what a version held. */
export interface SkillRollback {
  operation: 'rollback';
  skillId: string;
  version: number;
  /** As in `SkillReplace`. */
  baseVersion: number | null;
}

export type SkillEdit = SkillAppend | SkillReplace | SkillRollback;

/**
 * The changes of a skill's text. Each takes the row's lock, so of many at once none is lost, and joins the running
 * transaction. A body that would pass `max_body_chars` is refused, never clipped. Screening is the callers'.
 */
@Injectable()
export class SkillWriter {
  constructor(
    private readonly database: Database,
    private readonly store: SynthesizedSkillStore,
    private readonly history: SkillHistory,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  /** @param options.released an operator lets through what screening flags */
  async edit(author: SkillAuthor, edit: SkillEdit, options: { released?: boolean } = {}): Promise<SkillWriteResult> {
    const released = options.released ?? false;
    return this.database.transaction(async () => {
      const skill = await this.store.lock(ownerOf(author), edit.skillId);
      if (!skill || (edit.operation !== 'rollback' && !isLive(skill))) return refused(skill, unknownSkill());
      if (edit.baseVersion !== null && edit.baseVersion !== skill.version) {
        return refused(skill, staleVersion(edit.baseVersion, skill.version));
      }
      if (edit.operation === 'append') return this.append(author, skill, edit, released);
      if (edit.operation === 'replace') return this.replace(author, skill, edit, released);
      return this.rollback(author, skill, edit);
    });
  }

  private async append(
    author: SkillAuthor,
    skill: SkillRow,
    { text, kind, note, automatic }: SkillAppend,
    released: boolean,
  ): Promise<SkillWriteResult> {
    if (automatic && (skill.pinned || skill.operator_edited)) return refused(skill, pinned());
    const said = kind === 'refine_skill_tool' ? repeatsLines(text, skill.content) : saysAlready(text, skill.content);
    if (said) return { status: 'unchanged', skill };
    return this.change(author, skill, {
      content: appended(skill.content, text),
      source_turn_ids: sourcesWith(skill, author),
      operator_released: skill.operator_released || released,
      kind,
      note,
    });
  }

  private async replace(
    author: SkillAuthor,
    skill: SkillRow,
    edit: SkillReplace,
    released: boolean,
  ): Promise<SkillWriteResult> {
    const description = edit.description ?? skill.description;
    const operatorEdited = skill.operator_edited || edit.byOperator;
    const same = description === skill.description && edit.content === skill.content;
    if (same && operatorEdited === skill.operator_edited) return { status: 'unchanged', skill };
    return this.change(author, skill, {
      content: edit.content,
      description,
      source_turn_ids: sourcesWith(skill, author),
      operator_edited: operatorEdited,
      operator_released: released,
      kind: edit.kind,
      note: edit.note,
    });
  }

  private async rollback(author: SkillAuthor, skill: SkillRow, edit: SkillRollback): Promise<SkillWriteResult> {
    if (edit.version === skill.version) return { status: 'unchanged', skill };
    const text = await this.history.textAt(skill, edit.version);
    if (!text) return refused(skill, unknownVersion(edit.version));
    return this.change(author, skill, { ...text, kind: 'rollback', note: `to version ${edit.version}` });
  }

  private async change(
    author: SkillAuthor,
    skill: SkillRow,
    change: SkillChange & { content: string },
  ): Promise<SkillWriteResult> {
    const problem =
      bodyProblem(change.content, this.settings.learning.skill_refinement.max_body_chars) ??
      descriptionProblem(change.description ?? skill.description);
    if (problem) return refused(skill, problem);
    const changed = await this.history.change(skill, change);
    this.events.publish('skill.refined', {
      ...aboutSkill(author),
      payload: {
        skill_name: changed.name,
        skill_id: changed.id,
        skill_version: changed.version,
        refinement_kind: change.kind,
      },
    });
    return { status: 'written', skill: changed };
  }
}

function sourcesWith(skill: SkillRow, { turnId }: SkillAuthor): string[] {
  return turnId === null ? skill.source_turn_ids : [...new Set([...skill.source_turn_ids, turnId])];
}

function refused(skill: SkillRow | null, problem: SkillProblem): SkillWriteResult {
  return { status: 'refused', skill, ...problem };
}

function unknownSkill(): SkillProblem {
  return { rule: 'unknown_skill', message: 'the skill is gone or has been put away' };
}

function pinned(): SkillProblem {
  return { rule: 'pinned', message: 'the skill is pinned or was edited by an operator' };
}

function unknownVersion(version: number): SkillProblem {
  return { rule: 'unknown_version', message: `version ${version} of the skill is unknown or no longer kept` };
}

function staleVersion(base: number, current: number): SkillProblem {
  return {
    rule: 'stale_version',
    message: `the skill is at version ${current}, not ${base}: read it again and base the change on version ${current}`,
  };
}
