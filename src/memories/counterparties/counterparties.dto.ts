import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsOptional, IsString, IsUUID, MaxLength, registerDecorator, ValidateIf } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';
import { traitEditProblem } from './trait-edit.js';

export class CounterpartiesQuery extends PageQuery {
  /** Searches names and traits instead of listing: best first, at most `limit`, no cursor. */
  @IsOptional()
  @IsString()
  q?: string;
}

export class CounterpartyChange {
  /**
   * What holds of each trait named here, in place of all that was observed so far; null or an empty list removes it, traits
   * that are not named stay. A value is a text, or the object that a profile shows it as.
   */
  @ValidateIf((change: CounterpartyChange) => change.traits !== undefined)
  @IsTraitEdit()
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  traits?: Record<string, unknown>;

  /** Kept until it is changed here; null lets turns name the subject again. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  name?: string | null;
}

export class CounterpartyLink {
  /** The profile that is the same subject under another identity. */
  @IsUUID('all')
  profile_id: string;
}

function IsTraitEdit(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'isTraitEdit',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => traitEditProblem(value) === null,
        defaultMessage: (problem) => traitEditProblem(problem?.value) ?? 'traits is not valid',
      },
    });
  };
}
