import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** What one turn shows of how a piece of work is done. */
export interface Trajectory {
  /** Of the episode. */
  id: string;
  turnId: string;
  startedAt: Date;
  taskSummary: string;
  planSummary: string;
  toolSequence: string[];
}

export interface TrajectoryScope {
  orgId: string;
  agentId: string;
}

interface TrajectoryRow {
  id: string;
  turn_id: string;
  started_at: Date;
  task_summary: string;
  plan_summary: string;
  tool_sequence: string[];
}

const COLUMNS = 'id, turn_id, started_at, task_summary, plan_summary, tool_sequence';

/**
 * A skill may be drafted from it: a single turn that went well, used tools and is carried by no skill yet. An exemplar is
 * such a turn although a compacted row stands for it too; a compacted row never is.
 */
const USABLE = `kind = 'raw' and review_outcome = 'done' and engaged and consolidated_into_skill_id is null
  and turn_id is not null and tool_sequence <> '[]'`;

/** The successful trajectories of an agent that no skill carries forward (mission, "SkillSynthesizer"; raw rows only). */
@Injectable()
export class EpisodeTrajectories {
  constructor(private readonly database: Database) {}

  /** Newest first; `since` null: whatever their age. */
  async newest(scope: TrajectoryScope, since: Date | null, limit: number): Promise<Trajectory[]> {
    const rows = await this.database.query<TrajectoryRow>(
      `select ${COLUMNS} from episodes
       where org_id = $1 and agent_id = $2 and ${USABLE} and ($3::timestamptz is null or started_at >= $3)
       order by started_at desc, id desc limit $4`,
      [scope.orgId, scope.agentId, since, limit],
    );
    return rows.map(trajectoryOf);
  }

  /** Null where the episode is gone or not usable. */
  async find(scope: TrajectoryScope, episodeId: string): Promise<Trajectory | null> {
    const [row] = await this.database.query<TrajectoryRow>(
      `select ${COLUMNS} from episodes where org_id = $1 and agent_id = $2 and id = $3 and ${USABLE}`,
      [scope.orgId, scope.agentId, episodeId],
    );
    return row ? trajectoryOf(row) : null;
  }

  /** Whether all are still usable; holds their rows until the running transaction ends. */
  async hold(scope: TrajectoryScope, episodeIds: readonly string[]): Promise<boolean> {
    const rows = await this.database.query(
      `select id from episodes where org_id = $1 and agent_id = $2 and id = any($3::uuid[]) and ${USABLE}
       order by id for update`,
      [scope.orgId, scope.agentId, episodeIds],
    );
    return rows.length === new Set(episodeIds).size;
  }

  /** The listed agents that have at least so many; of one organisation, or of all where `orgId` is null. */
  async agentsWith(atLeast: number, since: Date | null, orgId: string | null): Promise<TrajectoryScope[]> {
    const rows = await this.database.query<{ org_id: string; agent_id: string }>(
      `select agents.org_id, agents.id as agent_id from agents
       where active and ($1::uuid is null or agents.org_id = $1) and $3 <= (
         select count(*) from (
           select from episodes where episodes.org_id = agents.org_id and agent_id = agents.id and ${USABLE}
             and ($2::timestamptz is null or started_at >= $2) limit $3) enough)
       order by agents.org_id, agents.id`,
      [orgId, since, atLeast],
    );
    return rows.map((row) => ({ orgId: row.org_id, agentId: row.agent_id }));
  }
}

function trajectoryOf(row: TrajectoryRow): Trajectory {
  return {
    id: row.id,
    turnId: row.turn_id,
    startedAt: row.started_at,
    taskSummary: row.task_summary,
    planSummary: row.plan_summary,
    toolSequence: row.tool_sequence,
  };
}
