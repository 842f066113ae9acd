import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { InteractionDto } from '../../core/turn/interaction.dto.js';
import { Names, OrDefault, TurnId } from '../../platform/http/dto-decorators.js';

export class PlanContextDto {
  @TurnId()
  turn_id: string;

  /** Registers an unknown agent with this role. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  role: string | null = null;

  @IsString()
  task_description: string;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  conversation_id: string | null = null;

  @OrDefault(() => [])
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => InteractionDto)
  interactions: InteractionDto[] = [];

  /** The tools that the turn's agent has. */
  @OrDefault(() => [])
  @Names()
  available_tools: string[] = [];

  @OrDefault(() => [])
  @Names()
  mcp_servers: string[] = [];
}
