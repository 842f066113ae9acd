import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';

export class LearningHealthQuery extends PageQuery {
  /** Id or handle. */
  @IsOptional()
  @IsString()
  agent?: string;

  @IsOptional()
  @IsString()
  role?: string;

  @IsOptional()
  @IsString()
  unit?: string;

  /** Only agents whose skills are hardly used, or only the others. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  below_threshold?: boolean;
}
