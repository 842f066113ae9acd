import { IsOptional, IsString } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';

export class AgentsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  role?: string;

  @IsOptional()
  @IsString()
  unit?: string;
}
