import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { ApiError } from '../../platform/http/api-error.js';
import { EpisodeConsolidation } from '../episodes/episode-consolidation.js';
import { aboutSkill, ownerOf, type SkillAuthor } from './skill-author.js';
import { transitionOf } from './skill.events.js';
import { detailOf } from './skill.rules.js';
import { isLive, LIVE_SKILL, SKILL_COLUMNS, type SkillRow } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

export type WantedState = 'active' | 'archived' | 'rejected';

/** What an operator makes of a skill as a whole: nothing is ever deleted, and all of it can be taken back. */
@Injectable()
export class SkillStates {
  constructor(
    private readonly database: Database,
    private readonly store: SynthesizedSkillStore,
    private readonly episodes: EpisodeConsolidation,
    private readonly events: EventBus,
  ) {}

  /**
   * Null where there is no such skill. What is put away frees its name, its place and its episodes; what comes back needs
   * them again.
   *
   * @throws ApiError 409 `skill.name_taken` or `skill.cap_reached` where a live skill has taken the place
   */
  async change(
    author: SkillAuthor,
    id: string,
    wanted: { state?: WantedState; pinned?: boolean },
  ): Promise<SkillRow | null> {
    return this.database.transaction(async () => {
      // The agent's row comes before the skill's, here as in a creation.
      const full = wanted.state === 'active' ? await this.store.capProblem(ownerOf(author)) : null;
      let skill = await this.store.lock(ownerOf(author), id);
      if (!skill) return null;
      if (wanted.pinned !== undefined && wanted.pinned !== skill.pinned) skill = await this.pin(skill, wanted.pinned);
      if (wanted.state === undefined) return skill;
      if (wanted.state === 'active' && (await this.isTaken(skill))) {
        throw new ApiError(409, 'skill.name_taken', `A live skill is named "${skill.name}": archive that one first.`);
      }
      if (wanted.state === skill.state) return skill;
      if (wanted.state !== 'active') return this.putAway(author, skill, wanted.state);
      if (!isLive(skill)) {
        if (full) throw new ApiError(409, 'skill.cap_reached', detailOf(full));
      }
      return this.revive(author, skill);
    });
  }

  /**
   * Whether the skill, or one of its name that was put away and that is meant where it is in use itself, finds its name
   * taken.
   */
  private async isTaken(skill: SkillRow): Promise<boolean> {
    if (skill.state === 'stale') return false;
    const [other] = await this.database.query(
      `select 1 from synthesized_skills where org_id = $1 and agent_id = $2 and name = $3 and id <> $4
         and (${LIVE_SKILL}) <> $5 limit 1`,
      [skill.org_id, skill.agent_id, skill.name, skill.id, skill.state === 'active'],
    );
    return other !== undefined;
  }

  private async pin(skill: SkillRow, pinned: boolean): Promise<SkillRow> {
    return this.update(skill, `pinned = $5`, [pinned]);
  }

  private async putAway(author: SkillAuthor, skill: SkillRow, state: 'archived' | 'rejected'): Promise<SkillRow> {
    const changed = await this.update(skill, `state = $5, archived_at = coalesce(archived_at, $4)`, [state]);
    await this.episodes.clear(skill.org_id, skill.agent_id, skill.id);
    if (state === 'archived') {
      this.events.publish('skill.archived', {
        ...aboutSkill(author),
        payload: transitionOf(author, changed, changed.updated_at),
      });
    }
    return changed;
  }

  private async revive(author: SkillAuthor, skill: SkillRow): Promise<SkillRow> {
    const { org_id: orgId, agent_id: agentId, id: skillId, source_episode_ids: episodeIds, state } = skill;
    const revived = await this.update(
      skill,
      `state = 'active', stale_at = null, archived_at = null, revived_at = $4`,
      [],
    );
    await this.episodes.mark({ orgId, agentId, episodeIds, skillId, at: revived.updated_at });
    if (state !== 'active') {
      const payload = { ...transitionOf(author, revived, revived.updated_at), prior_state: state };
      this.events.publish('skill.revived', { ...aboutSkill(author), payload });
    }
    return revived;
  }

  private async update(skill: SkillRow, set: string, parameters: readonly unknown[]): Promise<SkillRow> {
    const [row] = await this.database.query<SkillRow>(
      `update synthesized_skills set ${set}, updated_at = $4
       where org_id = $1 and agent_id = $2 and id = $3 returning ${SKILL_COLUMNS}`,
      [skill.org_id, skill.agent_id, skill.id, new Date(), ...parameters],
    );
    return row!;
  }
}
