import { IsOptional, IsString, ValidateBy } from 'class-validator';
import { isInstant } from '../../platform/http/instant.js';
import { PageQuery } from '../../platform/http/page.js';

const IsDay = (): PropertyDecorator =>
  ValidateBy({
    name: 'isDay',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isInstant(`${value}T00:00:00Z`),
      defaultMessage: () => '$property must be a day, e.g. 2026-09-01',
    },
  });

export class UsageQuery extends PageQuery {
  /** First UTC day. */
  @IsOptional()
  @IsDay()
  from?: string;

  /** Last UTC day. */
  @IsOptional()
  @IsDay()
  to?: string;

  /** Id or handle. */
  @IsOptional()
  @IsString()
  agent?: string;
}
