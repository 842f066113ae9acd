import { Injectable } from '@nestjs/common';
import type { Agent } from '../../core/organization/agents.js';
import { CompactedEpisodes } from '../../memories/episodes/compacted-episodes.js';
import { exemplarsOf, type CompactedSummary } from '../../memories/episodes/compaction.models.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { CompactionPasses } from './compaction-passes.js';
import { computedSummary } from './compacted-summary.js';

/** Puts one row in the place of many: row, originals, exemplars and the counts of the pass are one transaction. */
@Injectable()
export class ClusterCompaction {
  constructor(
    private readonly compacted: CompactedEpisodes,
    private readonly passes: CompactionPasses,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Turns of one kind, the newest of which stay raw. Answers how many raw rows went; 0 where they have changed meanwhile. */
  async replace(
    agent: Agent,
    cluster: { members: readonly RawEpisode[]; leader: RawEpisode },
    summary: CompactedSummary,
  ): Promise<number> {
    const wanted = this.settings.learning.episode_lifecycle.exemplar_count;
    const exemplars = exemplarsOf(cluster.members, wanted);
    return this.write(agent, { ...cluster, exemplars, toolSequence: cluster.leader.toolSequence, summary });
  }

  /** Turns of many kinds, none of which stays. Answers as `replace`. */
  async fold(agent: Agent, members: readonly RawEpisode[]): Promise<number> {
    if (members.length === 0) return 0;
    const summary = computedSummary(members, { alike: false });
    return this.write(agent, { members, exemplars: [], toolSequence: [], summary });
  }

  private async write(
    agent: Agent,
    compaction: {
      members: readonly RawEpisode[];
      exemplars: readonly RawEpisode[];
      toolSequence: readonly string[];
      summary: CompactedSummary;
    },
  ): Promise<number> {
    const { members, exemplars, toolSequence } = compaction;
    const summary = await this.compacted.prepare(compaction.summary);
    const { orgId, id, handle, role } = agent;
    const gone = members.length - exemplars.length;
    return this.database.transaction(async () => {
      const replaced = await this.compacted.replace({
        orgId,
        agent: { id, handle, role },
        members,
        exemplars,
        toolSequence,
        summary,
      });
      if (!replaced) return 0;
      await this.passes.count({ orgId, agentId: id }, { clusters_compacted: 1, raw_replaced_by_compaction: gone });
      return gone;
    });
  }
}
