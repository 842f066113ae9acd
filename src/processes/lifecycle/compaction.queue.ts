import { Injectable } from '@nestjs/common';
import type { AgentRef, TraceContext } from '../../core/turn/extension-points.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import { RawEpisodes } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { EventBus } from '../../platform/events/event-bus.js';
import type { DemandedJob, JobPayload } from '../../platform/jobs/job.models.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import './lifecycle.events.js';

export const COMPACT_EPISODES = 'compact-episodes';

export interface CompactEpisodesPayload extends JobPayload {
  agent_id: string;
}

/** Where intake leaves agents that have too many raw episodes. Nothing else starts a pass but an operator. */
@Injectable()
export class CompactionQueue {
  constructor(
    private readonly raw: RawEpisodes,
    private readonly jobs: Jobs,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  /**
   * Enqueues the agent's pass where the write that the running transaction makes brings it over the bound. The agent's row
   * must be held: of two writes that each see only themselves, neither would be the one too many.
   */
  async requestWhereOver(write: TraceContext & { orgId: string; agent: AgentRef; turnId: string }): Promise<void> {
    const { orgId, agent } = write;
    const threshold = this.settings.learning.episode_lifecycle.max_raw_episodes_per_agent;
    if (threshold === 0) return;
    const rawCount = await this.raw.count({ orgId, agentId: agent.id }, threshold + 1);
    if (rawCount <= threshold) return;
    await this.jobs.enqueue({ ...passOf(orgId, agent.id), task: COMPACT_EPISODES, ifWaiting: 'keep' });
    this.events.publish('compaction.requested', {
      ...aboutTurn(write),
      payload: { agent_handle: agent.handle, raw_count: rawCount, threshold },
    });
  }
}

/** One job an agent, which never runs beside the agent's reflections. */
export function passOf(orgId: string, agentId: string): DemandedJob<CompactEpisodesPayload> {
  return { key: agentId, queue: `agent:${agentId}`, payload: { org_id: orgId, agent_id: agentId } };
}
