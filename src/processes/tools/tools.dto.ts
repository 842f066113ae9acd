import { Transform } from 'class-transformer';
import { IsIn, IsObject, IsOptional, IsUUID } from 'class-validator';
import { TURN_PHASES, type TurnPhase } from '../../core/turn/extension-points.js';

export class ToolsQuery {
  /** Only the tools of this phase; all where absent. */
  @IsOptional()
  @IsIn(TURN_PHASES)
  phase: TurnPhase | null = null;
}

export class ToolCallDto {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))
  @IsUUID('all')
  turn_id: string;

  @IsIn(TURN_PHASES)
  phase: TurnPhase;

  /** As the model wrote them; what is wrong with them is answered with `is_error`. */
  @Transform(({ value }: { value: unknown }) => value ?? {})
  @IsObject()
  arguments: Record<string, unknown> = {};
}
