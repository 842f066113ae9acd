import { ArrayNotEmpty, ArrayUnique, IsArray, IsIn, IsOptional, IsString, Length } from 'class-validator';
import { scopes, type ScopeName } from '../../platform/auth/principal.js';
import { IsInstant } from '../../platform/http/instant.js';

export class ApiKeyDraft {
  /** For people: who uses the key. */
  @IsString()
  @Length(1, 200)
  name: string;

  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(scopes, { each: true })
  scopes: ScopeName[];

  @IsOptional()
  @IsInstant()
  expires_at: string | null = null;

  /** Another organisation, made if there is none; takes ADMIN_API_KEY. */
  @IsOptional()
  @IsString()
  @Length(1, 200)
  organization: string | null = null;
}
