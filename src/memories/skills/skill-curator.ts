import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { EpisodeConsolidation } from '../episodes/episode-consolidation.js';
import { agedState } from './skill-ageing.js';
import { aboutSkill, ownerOf, type SkillAuthor } from './skill-author.js';
import { transitionOf } from './skill.events.js';
import { LIVE_SKILL, type SkillRow } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

interface LiveRow extends Pick<SkillRow, 'state' | 'pinned' | 'last_used_at' | 'created_at' | 'revived_at'> {
  id: string;
  org_id: string;
  agent_id: string;
  handle: string;
  role: string;
}

/**
 * Ages skills by their use: active, stale, archived, and back to active where a stale one is used after all (reference
 * engine, section 13). It never deletes.
 */
@Injectable()
export class SkillCurator {
  constructor(
    private readonly database: Database,
    private readonly store: SynthesizedSkillStore,
    private readonly episodes: EpisodeConsolidation,
    private readonly events: EventBus,
    private readonly settings: Settings,
  ) {}

  /** Of one organisation, or of all where `orgId` is null. Each skill commits by itself. */
  async run(orgId: string | null, now: Date = new Date()): Promise<void> {
    const rows = await this.database.query<LiveRow>(
      `select skill.id, skill.org_id, skill.agent_id, skill.state, skill.pinned, skill.last_used_at, skill.created_at,
         skill.revived_at, agents.handle, agents.role
       from synthesized_skills skill join agents on agents.org_id = skill.org_id and agents.id = skill.agent_id
       where ($1::uuid is null or skill.org_id = $1) and skill.${LIVE_SKILL} and not skill.pinned
       order by skill.created_at, skill.id`,
      [orgId],
    );
    for (const row of rows) {
      if (agedState(row, now, this.settings.learning.skill_curator) !== row.state) await this.age(row, now);
    }
  }

  /** Looks again at the row that it holds: the skill may have been used, pinned or put away meanwhile. */
  private async age({ id, org_id: orgId, agent_id: agentId, handle, role }: LiveRow, now: Date): Promise<void> {
    const agent = { id: agentId, handle, role };
    const author: SkillAuthor = { orgId, agent, turnId: null, traceId: null, spanId: null };
    await this.database.transaction(async () => {
      const skill = await this.store.lock(ownerOf(author), id);
      if (!skill) return;
      const state = agedState(skill, now, this.settings.learning.skill_curator);
      if (state === skill.state) return;
      await this.database.query(
        `update synthesized_skills set state = $4, stale_at = case when $4 = 'active' then null else coalesce(stale_at, $5) end,
           archived_at = case when $4 = 'archived' then $5::timestamptz end
         where org_id = $1 and agent_id = $2 and id = $3`,
        [orgId, agentId, id, state, now],
      );
      // What it no longer carries must not be dropped for its sake.
      if (state === 'archived') await this.episodes.clear(orgId, agentId, id);
      const payload = transitionOf(author, skill, now);
      const about = aboutSkill(author);
      if (state === 'active') {
        this.events.publish('skill.revived', { ...about, payload: { ...payload, prior_state: 'stale' } });
        return;
      }
      if (skill.state === 'active') this.events.publish('skill.staled', { ...about, payload });
      if (state === 'archived') this.events.publish('skill.archived', { ...about, payload });
    });
  }
}
