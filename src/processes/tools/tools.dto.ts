import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsIn, IsOptional } from 'class-validator';
import { TURN_PHASES, type TurnPhase } from '../../core/turn/extension-points.js';
import { TurnId } from '../../platform/http/dto-decorators.js';

export class ToolsQuery {
  /** Only the tools of this phase; all where absent. */
  @IsOptional()
  @IsIn(TURN_PHASES)
  phase: TurnPhase | null = null;
}

export class ToolCallDto {
  @TurnId()
  turn_id: string;

  @IsIn(TURN_PHASES)
  phase: TurnPhase;

  /** As the model wrote them; what is wrong with them is answered with `is_error`. */
  @Allow()
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  arguments: unknown;
}
