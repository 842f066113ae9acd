import { Injectable } from '@nestjs/common';
import type { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import type { EpisodePosition } from '../../memories/episodes/raw-episodes.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { type CompactionPass, CompactionPasses, type PassKey } from './compaction-passes.js';
import './lifecycle.events.js';
import type { LifecycleAgent } from './lifecycle-agents.js';

const MAX_BACKOFF_SECONDS = 3_600;

/** The beginning and the end of passes: how often one is tried, and who is told of it. */
@Injectable()
export class LifecyclePasses {
  constructor(
    private readonly rows: CompactionPasses,
    private readonly database: Database,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  open(key: PassKey): Promise<CompactionPass> {
    return this.rows.open(key);
  }

  /**
   * Counts an attempt that the model failed and answers when to try again; null where that was the last, or where another
   * would be refused too. An open breaker counts as well: storage cannot wait for as long as an outage lasts.
   */
  async fail(key: PassKey, pass: CompactionPass, fault: AuxiliaryUnavailable): Promise<Date | null> {
    const { max_attempts: most, retry_base_seconds: base } = this.settings.learning.reflect;
    const failures = pass.failures + 1;
    const last = failures >= Math.min(most, this.settings.jobs.max_attempts);
    const seconds = Math.min(base * 2 ** (failures - 1), MAX_BACKOFF_SECONDS);
    const latest = Date.now() + MAX_BACKOFF_SECONDS * 1000;
    const at = Math.max(Date.now() + seconds * 1000, Math.min(fault.retryAt?.getTime() ?? 0, latest));
    if (fault.fault === 'refused' || last) return null;
    await this.rows.putOff(key, failures, new Date(at));
    return new Date(at);
  }

  /** Ends the pass and tells of it; `behind`: where the next one begins. */
  async end(
    { agent, skipped }: LifecycleAgent,
    end: { skipped?: 'model_unavailable'; behind?: EpisodePosition | null },
  ): Promise<void> {
    await this.database.transaction(async () => {
      const counts = await this.rows.close({ orgId: agent.orgId, agentId: agent.id }, end.behind ?? null);
      this.events.publish('compaction.completed', {
        org_id: agent.orgId,
        agent_id: agent.id,
        agent_handle: agent.handle,
        role: agent.role,
        turn_id: null,
        trace_id: null,
        span_id: null,
        payload: { agent_handle: agent.handle, ...counts, skipped_reason: skipped ?? end.skipped ?? null },
      });
    });
  }
}
