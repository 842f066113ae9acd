import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { InteractionDto } from '../../core/turn/interaction.dto.js';
import type { FailureReason, FinishedTurn, PlanDecision, ReviewOutcome } from '../../core/turn/turn.models.js';
import { Names, OrDefault, TurnId } from '../../platform/http/dto-decorators.js';
import { IsInstant } from '../../platform/http/instant.js';

export class PlanDto {
  @IsIn(['plan', 'direct', 'skip'])
  decision: PlanDecision;

  @OrDefault(() => '')
  @IsString()
  summary: string = '';
}

export class FinishedTurnDto implements FinishedTurn {
  @TurnId()
  turn_id: string;

  /** Handle or id of the agent. */
  @IsString()
  @IsNotEmpty()
  agent: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  role: string;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  task_id: string | null = null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  conversation_id: string | null = null;

  /** What set the turn off; two turns with the same set worked on the same thing. */
  @OrDefault(() => [])
  @Names()
  trigger_event_ids: string[] = [];

  @IsString()
  task_description: string;

  @IsObject()
  @ValidateNested()
  @Type(() => PlanDto)
  plan: PlanDto;

  /** Tool calls of the execute phase, in call order, repeats kept. */
  @Names()
  tool_sequence: string[];

  @OrDefault(() => [])
  @Names()
  plan_tool_sequence: string[] = [];

  @OrDefault(() => [])
  @Names()
  skills_used: string[] = [];

  @IsIn(['done', 'failed', 'self_iterate'])
  review_outcome: ReviewOutcome;

  @IsOptional()
  @IsIn(['stall', 'max_iterations', 'exception', 'llm_unavailable'])
  failure_reason: FailureReason | null = null;

  @OrDefault(() => 1)
  @IsInt()
  @Min(0)
  iterations: number = 1;

  @IsInstant()
  started_at: string;

  @IsInstant()
  ended_at: string;

  @OrDefault(() => [])
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => InteractionDto)
  interactions: InteractionDto[] = [];
}

export class TurnBatchDto {
  /** Each is judged for itself. */
  @IsArray()
  @ArrayMaxSize(500)
  turns: unknown[];

  /** False stores episodes only, to fill in a past. */
  @OrDefault(() => true)
  @IsBoolean()
  reflect: boolean = true;
}
