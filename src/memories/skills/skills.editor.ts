import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { ownerOf, type SkillAuthor } from './skill-author.js';
import type { SkillRow } from './skill.models.js';
import { descriptionProblem, detailOf, type SkillProblem } from './skill.rules.js';
import { skillNotFound } from './skill.reader.js';
import { ScreenedSkills, type HeldSkill } from './screened-skills.js';
import { SkillWriter } from './skill-writer.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

export type SkillEditResult = { status: 'created' | 'changed'; skill: SkillRow } | HeldSkill;

/** Where a rule is broken, as a path of the request. */
const PATHS: Partial<Record<SkillProblem['rule'], string>> = {
  invalid_name: 'name',
  invalid_description: 'description',
  empty_body: 'content',
  body_too_long: 'content',
};

/** What an operator writes into an agent's skills. */
@Injectable()
export class SkillsEditor {
  constructor(
    private readonly database: Database,
    private readonly store: SynthesizedSkillStore,
    private readonly screened: ScreenedSkills,
    private readonly writer: SkillWriter,
  ) {}

  /**
   * The live skill of that name reads like this from now on; where there is none it is created, whatever archived ones
   * have had the name. Either way it is the operator's and not refined automatically.
   */
  async put(
    author: SkillAuthor,
    name: string,
    text: { description: string; content: string },
  ): Promise<SkillEditResult> {
    const problem = descriptionProblem(text.description);
    if (problem) throw problemError(problem);
    // Another writer may create the skill between our look and our write; then it is there to be replaced.
    return (await this.putOnce(author, name, text)) ?? (await this.putOnce(author, name, text)) ?? conflict(name);
  }

  /**
   * A forward step to what the version held; 404 where it is unknown or no longer kept. Nothing of it is screened again:
   * what is flagged by now is blocked in prompts.
   */
  async rollback(author: SkillAuthor, skillId: string, version: number): Promise<SkillRow> {
    const result = await this.writer.edit(author, { operation: 'rollback', skillId, version, baseVersion: null });
    if (result.status !== 'refused') return result.skill;
    if (result.rule === 'unknown_version') throw new ApiError(404, 'skill.version_not_found', detailOf(result));
    if (result.rule === 'unknown_skill') throw skillNotFound();
    throw invalidRequest([{ path: 'version', message: result.message }]);
  }

  /** Null where another writer came between. */
  private putOnce(
    author: SkillAuthor,
    name: string,
    text: { description: string; content: string },
  ): Promise<SkillEditResult | null> {
    return this.database.transaction(async () => {
      const existing = await this.store.liveByName(ownerOf(author), name);
      if (!existing) return this.create(author, name, text);
      const result = await this.screened.edit(author, {
        operation: 'replace',
        skillId: existing.id,
        ...text,
        baseVersion: null,
        kind: 'replace',
        note: null,
        byOperator: true,
      });
      if (result.status === 'quarantined') return result;
      if (result.status !== 'refused') return { status: 'changed', skill: result.skill };
      if (result.rule === 'unknown_skill') return null;
      throw problemError(result);
    });
  }

  private async create(
    author: SkillAuthor,
    name: string,
    text: { description: string; content: string },
  ): Promise<SkillEditResult | null> {
    const result = await this.screened.create(
      {
        ...ownerOf(author),
        name,
        ...text,
        toolSequence: [],
        sourceEpisodeIds: [],
        sourceTurnIds: [],
        origin: 'operator',
        trigger: null,
        clusterFingerprint: null,
        operatorEdited: true,
      },
      null,
    );
    if (result.status !== 'refused') return result;
    if (result.rule === 'name_taken') return null;
    throw problemError(result);
  }
}

function problemError(problem: SkillProblem): ApiError {
  const { rule, message } = problem;
  const path = PATHS[rule];
  if (path !== undefined) return invalidRequest([{ path, message }]);
  return new ApiError(409, rule === 'skill_cap' ? 'skill.cap_reached' : `skill.${rule}`, detailOf(problem));
}

function conflict(name: string): never {
  throw new ApiError(409, 'skill.name_taken', `The skill "${name}" is being changed by somebody else; try again.`);
}
