import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { MAX_SKILLS, type SourcedSkill, type ToolSkill } from './tool-skill.models.js';

interface SkillRow extends ToolSkill {
  released: boolean;
  updated_at: Date;
}

const COLUMNS = 'key, trigger, phases, title, summary, required, body, released, updated_at';

/** The tool skills that operators of an organisation wrote over HTTP. */
@Injectable()
export class OperatorSkills {
  constructor(private readonly database: Database) {}

  async all(orgId: string): Promise<SourcedSkill[]> {
    const rows = await this.database.query<SkillRow>(`select ${COLUMNS} from tool_skills where org_id = $1`, [orgId]);
    return rows.map(skillOf);
  }

  /**
   * Writes the skill, or another text over it; joins the running transaction.
   * @throws ApiError 409 `tool_skill.too_many` where the organisation has as many others as it may
   */
  put(orgId: string, skill: ToolSkill, { released }: { released: boolean }): Promise<SourcedSkill> {
    return this.database.transaction(async () => {
      await this.database.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`tool_skills ${orgId}`]);
      const [others] = await this.database.query<{ count: number }>(
        `select count(*)::int as count from tool_skills where org_id = $1 and key <> $2`,
        [orgId, skill.key],
      );
      if (others!.count >= MAX_SKILLS) {
        const detail = `The organisation has ${MAX_SKILLS} tool skills, which is the most there may be. Delete one first.`;
        throw new ApiError(409, 'tool_skill.too_many', detail);
      }
      const [row] = await this.database.query<SkillRow>(
        `insert into tool_skills
           (org_id, key, trigger, phases, title, summary, required, body, released, created_at, updated_at)
         values ($1, $2, $3::jsonb, $4::jsonb, $5, $6, $7, $8, $9, $10, $10)
         on conflict (org_id, key) do update set trigger = excluded.trigger, phases = excluded.phases,
           title = excluded.title, summary = excluded.summary, required = excluded.required, body = excluded.body,
           released = excluded.released, updated_at = excluded.updated_at
         returning ${COLUMNS}`,
        [
          orgId,
          skill.key,
          JSON.stringify(skill.trigger),
          JSON.stringify(skill.phases),
          skill.title,
          skill.summary,
          skill.required,
          skill.body,
          released,
          new Date(),
        ],
      );
      return skillOf(row!);
    });
  }

  /** False where there is none of this key. */
  async remove(orgId: string, key: string): Promise<boolean> {
    const rows = await this.database.query(`delete from tool_skills where org_id = $1 and key = $2 returning key`, [
      orgId,
      key,
    ]);
    return rows.length > 0;
  }
}

function skillOf({ updated_at: updatedAt, ...skill }: SkillRow): SourcedSkill {
  return { ...skill, source: 'operator', origin: null, updatedAt };
}
