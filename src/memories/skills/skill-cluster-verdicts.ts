import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { clusterFingerprint, type JudgedCluster, judgedCount } from './cluster-memory.js';
import type { SkillOwner } from './skill.models.js';
import type { SourceTurns } from './skill-synthesis.models.js';

/** `quarantined`: a draft of it waits for an operator. */
export type ClusterVerdict = 'learned' | 'refused' | 'quarantined';

export interface VerdictDraft extends SkillOwner {
  source: SourceTurns;
  verdict: ClusterVerdict;
  /** The rule that refused the draft; null where the model saw nothing to learn, and where a skill was learned. */
  reason: string | null;
  skillId: string | null;
  /** The verdicts on the cluster so far, which this one replaces. */
  replaces: readonly JudgedCluster[];
}

/** The negative memory of the SkillSynthesizer: what the model need not be asked about again (`skill_cluster_verdicts`). */
@Injectable()
export class SkillClusterVerdicts {
  constructor(private readonly database: Database) {}

  /** The clusters that no skill came of. Of those that one came of the skill itself speaks, as long as it is not archived. */
  async unlearned({ orgId, agentId }: SkillOwner): Promise<JudgedCluster[]> {
    const rows = await this.database.query<{
      id: string;
      tool_sequence: string[];
      member_episode_ids: string[];
      member_count: number;
    }>(
      `select id, tool_sequence, member_episode_ids, member_count from skill_cluster_verdicts
       where org_id = $1 and agent_id = $2 and verdict <> 'learned' order by decided_at, id`,
      [orgId, agentId],
    );
    return rows.map((row) => ({
      id: row.id,
      toolSequence: row.tool_sequence,
      episodeIds: row.member_episode_ids,
      memberCount: row.member_count,
    }));
  }

  /** Joins the running transaction. */
  async record({ orgId, agentId, source, verdict, reason, skillId, replaces }: VerdictDraft): Promise<void> {
    await this.database.query(
      `delete from skill_cluster_verdicts where org_id = $1 and agent_id = $2 and id = any($3::uuid[])`,
      [orgId, agentId, replaces.map(({ id }) => id)],
    );
    await this.database.query(
      `insert into skill_cluster_verdicts (id, org_id, agent_id, fingerprint, tool_sequence, member_episode_ids,
         source_turn_ids, member_count, verdict, reason, skill_id, created_at, decided_at)
       values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7::jsonb, $8, $9, $10, $11, $12, $12)
       on conflict (org_id, agent_id, fingerprint) do update set tool_sequence = excluded.tool_sequence,
         member_episode_ids = excluded.member_episode_ids, source_turn_ids = excluded.source_turn_ids,
         member_count = excluded.member_count, verdict = excluded.verdict, reason = excluded.reason,
         skill_id = excluded.skill_id, decided_at = excluded.decided_at`,
      [
        randomUUID(),
        orgId,
        agentId,
        clusterFingerprint(source.toolSequence),
        JSON.stringify(source.toolSequence),
        JSON.stringify(source.episodeIds),
        JSON.stringify(source.turnIds),
        judgedCount(source, replaces),
        verdict,
        reason,
        skillId,
        new Date(),
      ],
    );
  }
}
