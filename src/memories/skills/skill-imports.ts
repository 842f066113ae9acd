import { Injectable } from '@nestjs/common';
import { type ImportContext, type ImportOutcome, LineProblem } from '../../core/personal-data/personal-data.models.js';
import type { Row } from '../../core/personal-data/personal-table.js';
import type { WriteBoundary } from '../../core/personal-data/table-transfer.js';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { Screening } from '../../core/screening/screening.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { bodyProblem, descriptionProblem, detailOf, skillProblem } from './skill.rules.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** The rules on a skill hold for one that comes from a file as well. */
@Injectable()
export class SkillImports {
  readonly boundary: WriteBoundary;

  constructor(
    private readonly database: Database,
    private readonly skills: SynthesizedSkillStore,
    private readonly settings: Settings,
    screening: Screening,
    quarantine: QuarantineStore,
  ) {
    this.boundary = { screening, quarantine };
  }

  /** Throws `LineProblem` for a name, description or body that no skill may have; a taken name or a full agent leaves the skill out. */
  async admit(row: Row, owner: ImportContext): Promise<ImportOutcome | null> {
    const draft = { name: row.name as string, description: row.description as string, content: row.content as string };
    const problem = skillProblem(draft, this.limit);
    if (problem) throw new LineProblem(detailOf(problem));
    if (!['active', 'stale'].includes(row.state as string) || (await this.isStored(row.id, owner))) return null;
    if (await this.skills.liveByName(owner, draft.name)) return { status: 'skipped', reason: 'name_taken' };
    return (await this.skills.capProblem(owner)) ? { status: 'skipped', reason: 'skill_cap' } : null;
  }

  async admitVersion(row: Row, owner: ImportContext): Promise<ImportOutcome | null> {
    const problem = descriptionProblem(row.description as string) ?? bodyProblem(row.content as string, this.limit);
    if (problem) throw new LineProblem(detailOf(problem));
    return (await this.isStored(row.skill_id, owner)) ? null : { status: 'skipped', reason: 'without_its_skill' };
  }

  private get limit(): number {
    return this.settings.learning.skill_refinement.max_body_chars;
  }

  private async isStored(id: unknown, { orgId, agentId }: ImportContext): Promise<boolean> {
    const rows = await this.database.query(
      `select 1 from synthesized_skills where org_id = $1 and agent_id = $2 and id = $3`,
      [orgId, agentId, id],
    );
    return rows.length > 0;
  }
}
