import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { OrganizationDocument } from './organization.document.js';
import { Organizations } from './organizations.js';
import { organizationProblems } from './organization.rules.js';

@Controller('organization')
export class OrganizationController {
  constructor(private readonly organizations: Organizations) {}

  @Get()
  @Scope('admin')
  get(@CurrentPrincipal() principal: Principal): Promise<OrganizationDocument> {
    return this.organizations.document(principal.orgId);
  }

  /** Replaces the whole document, or nothing. Memories of agents that are no longer listed stay. */
  @Put()
  @Scope('admin')
  @ApiResponse({ status: 409, description: "The name is another organisation's (`organization.name_taken`)." })
  replace(
    @CurrentPrincipal() principal: Principal,
    @Body() document: OrganizationDocument,
  ): Promise<OrganizationDocument> {
    const problems = organizationProblems(document);
    if (problems.length > 0) throw invalidRequest(problems);
    return this.organizations.replace(principal.orgId, document);
  }
}
