import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { decodeCursor, type Page, pageOf, type PageRequest } from '../../platform/http/page.js';

export interface MeteredCall {
  orgId: string;
  agentId: string;
  worker: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
}

export interface UsageFilter {
  orgId: string;
  /** First and last UTC day, `YYYY-MM-DD`. */
  from?: string;
  to?: string;
  agentId?: string;
}

/** One item of `GET /usage`. */
export interface UsageView {
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  /** The handle; the id where the agent is no longer known. */
  agent: string;
  worker: string;
  provider: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
}

interface UsageRow {
  day: string;
  agent: string;
  position: string;
  worker: string;
  provider: string;
  calls: string;
  input_tokens: string;
  output_tokens: string;
}

/** More than any call has; sums of it stay within a bigint for ages. */
const MAX_TOKENS = 2_147_483_647;

/** A provider's count of tokens as one that can be added up: whole, not negative, at most `MAX_TOKENS`. */
export function tokenCount(stated: unknown): number {
  if (typeof stated !== 'number' || Number.isNaN(stated)) return 0;
  return Math.min(Math.max(Math.round(stated), 0), MAX_TOKENS);
}

/** What the auxiliary models cost, by organisation, UTC day, agent, worker and provider. */
@Injectable()
export class UsageMeter {
  constructor(private readonly database: Database) {}

  /** Counts one call that got a reply. */
  async record(call: MeteredCall, at: Date = new Date()): Promise<void> {
    await this.database.query(
      `insert into llm_usage (org_id, day, agent_id, worker, provider, calls, input_tokens, output_tokens)
       values ($1, $2::date, $3, $4, $5, 1, $6, $7)
       on conflict on constraint llm_usage_pkey do update set
         calls = llm_usage.calls + 1,
         input_tokens = llm_usage.input_tokens + excluded.input_tokens,
         output_tokens = llm_usage.output_tokens + excluded.output_tokens`,
      [
        call.orgId,
        utcDay(at),
        call.agentId,
        call.worker,
        call.provider,
        tokenCount(call.inputTokens),
        tokenCount(call.outputTokens),
      ],
    );
  }

  /** Tokens read and written since midnight UTC by the organisation, or by one of its agents. */
  async tokensToday(orgId: string, agentId?: string, now: Date = new Date()): Promise<number> {
    const [row] = await this.database.query<{ tokens: string }>(
      `select coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens from llm_usage
       where org_id = $1 and day = $2::date and ($3::uuid is null or agent_id = $3)`,
      [orgId, utcDay(now), agentId ?? null],
    );
    return Number(row!.tokens);
  }

  /** Newest day first. */
  async list({ orgId, from, to, agentId, ...page }: UsageFilter & PageRequest): Promise<Page<UsageView>> {
    const after = decodeCursor(page.cursor, (id) => /^[0-9a-f]{32}$/.test(id));
    const filter = `u.org_id = $1 and ($2::date is null or u.day >= $2) and ($3::date is null or u.day <= $3)
      and ($4::uuid is null or u.agent_id = $4)`;
    const parameters = [orgId, from ?? null, to ?? null, agentId ?? null];
    // The rest of the key in one word, as a cursor holds a time and one id.
    const position = `md5(concat_ws('/', u.agent_id, u.worker, u.provider))`;
    const rows = await this.database.query<UsageRow>(
      `select u.day::text, coalesce(a.handle, u.agent_id::text) as agent, ${position} as position, u.worker, u.provider,
         u.calls, u.input_tokens, u.output_tokens
       from llm_usage u left join agents a on a.id = u.agent_id and a.org_id = u.org_id
       where ${filter} and ($5::date is null or (u.day, ${position}) < ($5, $6))
       order by u.day desc, ${position} desc limit $7`,
      [...parameters, after && utcDay(after.at), after && after.id, page.limit + 1],
    );
    const [count] = await this.database.query<{ total: number }>(
      `select count(*)::int as total from llm_usage u where ${filter}`,
      parameters,
    );
    return pageOf({
      rows,
      limit: page.limit,
      total: count!.total,
      position: (row) => [new Date(`${row.day}T00:00:00Z`), row.position],
      view: (row) => ({
        day: row.day,
        agent: row.agent,
        worker: row.worker,
        provider: row.provider,
        calls: Number(row.calls),
        input_tokens: Number(row.input_tokens),
        output_tokens: Number(row.output_tokens),
      }),
    });
  }
}

function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
