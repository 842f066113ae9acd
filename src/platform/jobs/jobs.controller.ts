import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Scope } from '../auth/scope.decorator.js';
import { ApiError } from '../http/api-error.js';
import { PageQuery } from '../http/page.js';
import { invalidRequest } from '../http/validation.pipe.js';
import { JOB_STATUSES, type JobStatus, type JobView } from './job.models.js';
import type { JobPage } from './job.reader.js';
import { Jobs } from './jobs.js';

export class JobsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  task?: string;

  @IsOptional()
  @IsIn(JOB_STATUSES)
  status?: JobStatus;
}

@Controller('jobs')
@Scope('admin')
export class JobsController {
  constructor(private readonly jobs: Jobs) {}

  /** The background work of the organisation that has not ended well yet, newest first. */
  @Get()
  list(@CurrentPrincipal() { orgId }: Principal, @Query() query: JobsQuery): Promise<JobPage> {
    return this.jobs.list({ orgId, ...query });
  }

  /** Runs a dead job again, from its first attempt. */
  @Post(':id/retry')
  @HttpCode(202)
  async retry(@CurrentPrincipal() { orgId }: Principal, @Param('id') id: string): Promise<JobView> {
    const job = await this.jobs.retry(orgId, id);
    if (!job) throw new ApiError(404, 'job.not_found', `There is no job ${id}.`);
    return job;
  }

  /** Runs one of the periodic jobs now. */
  @Post(':task')
  @HttpCode(202)
  async start(
    @CurrentPrincipal() { orgId }: Principal,
    @Param('task') task: string,
    @Body() body?: unknown,
  ): Promise<{ id: string }> {
    return { id: await this.jobs.demand(orgId, task, optionsOf(body)) };
  }
}

function optionsOf(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw invalidRequest([{ path: 'body', message: 'must be an object' }]);
  }
  return body as Record<string, unknown>;
}
