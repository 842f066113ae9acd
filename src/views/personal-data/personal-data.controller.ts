import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, StreamableFile } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiProduces, ApiResponse } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { NDJSON, TAKES_NDJSON } from '../../platform/http/ndjson-body.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { AgentExport } from './agent-export.js';
import { AgentImport } from './agent-import.js';
import { Eraser } from './eraser.js';
import { ImportReport } from './import-tally.js';
import { ErasureDto, ErasureReceiptDto } from './personal-data.dto.js';

@Controller()
@Scope('admin')
export class PersonalDataController {
  constructor(
    private readonly exports: AgentExport,
    private readonly imports: AgentImport,
    private readonly eraser: Eraser,
  ) {}

  /** All that the agent has learned, as NDJSON: a header, then one line a row, of one moment. */
  @Get('agents/:id/export')
  @ApiProduces(NDJSON)
  @ApiResponse({ status: 200, description: 'NDJSON.', schema: { type: 'string' } })
  async export(@CurrentPrincipal() { orgId }: Principal, @Param('id') id: string): Promise<StreamableFile> {
    const lines = await this.exports.of(orgId, id);
    return new StreamableFile(lines, { type: NDJSON, disposition: 'attachment; filename="agent.ndjson"' });
  }

  /** Reads an export into the agent, all of it or nothing; what is there already is left alone. */
  @Post('agents/:id/import')
  @HttpCode(200)
  @RouteConfig(TAKES_NDJSON)
  @ApiConsumes(NDJSON)
  @ApiBody({ schema: { type: 'string' } })
  @ApiResponse({ status: 200, type: ImportReport })
  @ApiResponse({ status: 413, description: 'A line is longer than 2 MiB; nothing was imported.' })
  import(
    @CurrentPrincipal() { orgId }: Principal,
    @Param('id') id: string,
    @Req() { body }: FastifyRequest,
  ): Promise<ImportReport> {
    return this.imports.into(orgId, id, body);
  }

  /** Erases the agent and everything that it has, in one transaction. A turn that is posted later registers it anew. */
  @Delete('agents/:id')
  erase(@CurrentPrincipal() { orgId }: Principal, @Param('id') id: string): Promise<ErasureReceiptDto> {
    return this.eraser.eraseAgent(orgId, id);
  }

  /** Erases a person: what comes from that person alone goes, and names go from the rest, in one transaction. */
  @Post('erasures')
  @HttpCode(200)
  eraseSubject(@CurrentPrincipal() { orgId }: Principal, @Body() subject: ErasureDto): Promise<ErasureReceiptDto> {
    const { external_id: externalId, handle } = subject;
    if ((externalId ?? null) !== null && (handle ?? null) !== null) {
      throw invalidRequest([{ path: 'handle', message: 'handle must not be given beside external_id' }]);
    }
    if (`${externalId ?? ''}${handle ?? ''}`.trim() === '') {
      throw invalidRequest([{ path: 'external_id', message: 'external_id or handle must not be blank' }]);
    }
    return this.eraser.eraseSubject(orgId, subject);
  }
}
