import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiKeyStore, type ApiKeyView } from '../../platform/auth/api-key.store.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { PageQuery, type Page } from '../../platform/http/page.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { Organizations } from './organizations.js';
import { ApiKeyDraft } from './api-keys.dto.js';

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
    const expiresAt = draft.expires_at === null ? null : new Date(draft.expires_at);
    if (expiresAt !== null && expiresAt <= new Date()) {
      throw invalidRequest([{ path: 'expires_at', message: 'expires_at must lie in the future' }]);
    }
    const orgId =
      draft.organization === null ? principal.orgId : (await this.organizations.ensureNamed(draft.organization)).id;
    return this.keys.create({ orgId, name: draft.name, scopes: draft.scopes, expiresAt });
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
