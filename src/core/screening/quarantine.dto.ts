import { IsOptional, IsString } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';

export class QuarantineQuery extends PageQuery {
  /** Id or handle. */
  @IsOptional()
  @IsString()
  agent?: string;
}
