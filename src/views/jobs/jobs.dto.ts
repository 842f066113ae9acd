import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';
import { JOB_STATUSES, type JobStatus } from '../../platform/jobs/job.models.js';

export class JobsQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  task?: string;

  @IsOptional()
  @IsIn(JOB_STATUSES)
  status?: JobStatus;
}
