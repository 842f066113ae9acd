import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Type } from 'class-transformer';
import { ArrayNotEmpty, ArrayUnique, IsArray, IsDate, IsIn, IsOptional, IsString, Length } from 'class-validator';
import { ApiKeyStore, type ApiKeyView } from '../../platform/auth/api-key.store.js';
import { CurrentPrincipal, scopes, type Principal, type ScopeName } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { PageQuery, type Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { Organizations } from './organizations.js';

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
  @Type(() => Date)
  @IsDate()
  expires_at: Date | null = null;

  /** Another organisation, made if there is none; takes ADMIN_API_KEY. */
  @IsOptional()
  @IsString()
  @Length(1, 200)
  organization: string | null = null;
}

@Controller('api-keys')
@Scope('admin')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeyStore,
    private readonly organizations: Organizations,
  ) {}

  /** The answer alone holds the key; it is stored as a hash. */
  @Post()
  async create(
    @CurrentPrincipal() principal: Principal,
    @Body() draft: ApiKeyDraft,
  ): Promise<ApiKeyView & { key: string }> {
    if (draft.organization !== null && !principal.root) {
      throw new ApiError(403, 'auth.scope_missing', 'Naming another organisation takes ADMIN_API_KEY.');
    }
    const orgId =
      draft.organization === null ? principal.orgId : (await this.organizations.ensureNamed(draft.organization)).id;
    return this.keys.create({ orgId, name: draft.name, scopes: draft.scopes, expiresAt: draft.expires_at });
  }

  @Get()
  list(@CurrentPrincipal() principal: Principal, @Query() query: PageQuery): Promise<Page<ApiKeyView>> {
    return this.keys.list(principal.orgId, query);
  }

  @Delete(':id')
  @HttpCode(204)
  async revoke(@CurrentPrincipal() principal: Principal, @Param('id', UuidParam) id: string): Promise<void> {
    if (!(await this.keys.revoke(principal.orgId, id))) {
      throw new ApiError(404, 'api_key.not_found', 'There is no such API key.');
    }
  }
}
