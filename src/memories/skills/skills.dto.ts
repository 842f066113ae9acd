import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateIf } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';
import type { SkillState } from './skill.models.js';
import type { WantedState } from './skill.states.js';

export class SkillsQuery extends PageQuery {
  @IsOptional()
  @IsIn(['active', 'stale', 'archived', 'rejected'])
  state?: SkillState;
}

export class SkillVersionsQuery extends PageQuery {}

export class SkillText {
  /** When to use the skill, 1 to 400 characters. */
  @IsString()
  description: string;

  /** The body, verbatim; at most `skill_refinement.max_body_chars` characters. */
  @IsString()
  content: string;
}

export class SkillStateChange {
  /** A pinned skill does not age and is not refined automatically. */
  @ValidateIf((change: SkillStateChange) => change.pinned !== undefined)
  @IsBoolean()
  pinned?: boolean;

  /** `archived`: out of use. `rejected`: nor learned again from the same turns. `active`: back in use. */
  @ValidateIf((change: SkillStateChange) => change.state !== undefined)
  @IsIn(['active', 'archived', 'rejected'])
  state?: WantedState;
}

export class SkillRollbackRequest {
  /** A version of `GET …/versions`. */
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version: number;
}
