import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { decodeCursor, type Page, pageOf, type PageRequest } from '../http/page.js';
import type { JobBacklog, JobStatus, JobView } from './job.models.js';

export interface JobFilter extends PageRequest {
  orgId: string;
  task?: string;
  status?: JobStatus;
}

export interface JobPage extends Page<JobView> {
  /** How long the organisation's job that is due longest has waited; 0 where none is due. */
  oldest_pending_seconds: number;
}

interface JobRow extends Omit<JobView, 'run_at'> {
  run_at: Date;
  created_at: Date;
}

/** A retired job (see `JobStore`) has no key and is nobody's business. */
const JOBS = `
  (select id, task_identifier as task, attempts, run_at, last_error, flags,
     date_trunc('milliseconds', created_at) as created_at,
     case when locked_at is not null then 'running'
          when attempts >= max_attempts then 'dead'
          when attempts > 0 or last_error is not null then 'retrying'
          else 'pending' end as status
   from graphile_worker.jobs where key is not null)`;

const OLDEST = `coalesce(extract(epoch from now() - min(run_at) filter (
  where status in ('pending', 'retrying') and run_at <= now())), 0)::float8`;

/** What the job queue holds. */
@Injectable()
export class JobReader {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list({ orgId, task, status, limit, cursor }: JobFilter): Promise<JobPage> {
    const after = decodeCursor(cursor, isJobId);
    const filter = [JSON.stringify({ [`org_id:${orgId}`]: true }), task ?? null, status ?? null];
    const rows = await this.database.query<JobRow>(
      `select ${VIEW} from ${JOBS} job
       where flags @> $1::jsonb and ($2::text is null or task = $2) and ($3::text is null or status = $3)
         and ($4::timestamptz is null or (created_at, id) < ($4, $5::bigint))
       order by created_at desc, id desc limit $6`,
      [...filter, after?.at ?? null, after?.id ?? null, limit + 1],
    );
    const [summary] = await this.database.query<{ total: number; oldest: number }>(
      `select count(*) filter (where ($2::text is null or task = $2)
           and ($3::text is null or status = $3))::int as total, ${OLDEST} as oldest
       from ${JOBS} job where flags @> $1::jsonb`,
      filter,
    );
    return {
      ...pageOf({ rows, limit, total: summary!.total, position: (row) => [row.created_at, row.id], view }),
      oldest_pending_seconds: Math.round(summary!.oldest),
    };
  }

  async find(orgId: string, id: string): Promise<JobView | null> {
    if (!isJobId(id)) return null;
    const [row] = await this.database.query<JobRow>(
      `select ${VIEW} from ${JOBS} job where id = $1 and flags @> $2::jsonb`,
      [id, JSON.stringify({ [`org_id:${orgId}`]: true })],
    );
    return row ? view(row) : null;
  }

  /** Over all organisations. */
  async backlog(): Promise<JobBacklog[]> {
    const rows = await this.database.query<JobBacklog>(
      `select task, status, count(*)::int as jobs, ${OLDEST} as oldest_seconds
       from ${JOBS} job group by task, status order by task, status`,
    );
    return rows.map((row) => ({ ...row, oldest_seconds: Math.round(row.oldest_seconds) }));
  }
}

const VIEW = `id, task, status, attempts, run_at, last_error, created_at,
  (select substr(flag, 10) from jsonb_object_keys(flags) flag where flag like 'agent_id:%') as agent,
  (select substr(flag, 9) from jsonb_object_keys(flags) flag where flag like 'turn_id:%') as turn_id`;

function view({ id, task, agent, turn_id, status, attempts, run_at, last_error }: JobRow): JobView {
  return { id, task, agent, turn_id, status, attempts, run_at: run_at.toISOString(), last_error };
}

/** Positive and within a bigint. */
function isJobId(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text);
}
