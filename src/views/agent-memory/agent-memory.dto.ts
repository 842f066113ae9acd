import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

export class AgentMemoryQuery {
  /** Rows a section. */
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit: number = 50;
}
