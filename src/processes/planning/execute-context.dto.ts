import { IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import type { PlanDecision } from '../../core/turn/turn.models.js';
import { OrDefault, TurnId } from '../../platform/http/dto-decorators.js';

export class ExecuteContextDto {
  @TurnId()
  turn_id: string;

  /** Which round of plan and review this is; each is answered once. */
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  iteration: number;

  @IsIn(['plan', 'direct', 'skip'])
  plan_decision: PlanDecision;

  /** What has been planned; the search is about it. */
  @OrDefault(() => '')
  @IsString()
  plan_summary: string = '';
}
