import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import type { JobView } from '../../platform/jobs/job.models.js';
import type { JobPage } from '../../platform/jobs/job.reader.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { JobsQuery } from './jobs.dto.js';

@Controller('jobs')
@Scope('admin')
export class JobsController {
  constructor(
    private readonly jobs: Jobs,
    private readonly agents: Agents,
  ) {}

  /** The background work of the organisation that has not ended well yet, newest first. */
  @Get()
  async list(@CurrentPrincipal() { orgId }: Principal, @Query() query: JobsQuery): Promise<JobPage> {
    const page = await this.jobs.list({ orgId, ...query });
    return { ...page, items: await this.withHandles(orgId, page.items) };
  }

  /** Runs a dead job again, from its first attempt. */
  @Post(':id/retry')
  @HttpCode(202)
  async retry(@CurrentPrincipal() { orgId }: Principal, @Param('id') id: string): Promise<JobView> {
    const job = await this.jobs.retry(orgId, id);
    if (!job) throw new ApiError(404, 'job.not_found', `There is no job ${id}.`);
    const [shown] = await this.withHandles(orgId, [job]);
    return shown!;
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

  /** Jobs know their agents by id; people know them by handle. */
  private async withHandles(orgId: string, jobs: readonly JobView[]): Promise<JobView[]> {
    const ids = jobs.flatMap((job) => job.agent ?? []);
    const handles = await this.agents.handles(orgId, ids);
    return jobs.map((job) => ({ ...job, agent: job.agent && (handles.get(job.agent) ?? job.agent) }));
  }
}

function optionsOf(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw invalidRequest([{ path: 'body', message: 'must be an object' }]);
  }
  return body as Record<string, unknown>;
}
