import { Injectable } from '@nestjs/common';
import { EventBus } from '../../platform/events/event-bus.js';
import { EpisodeTrajectories } from '../episodes/episode-trajectories.js';
import { clusterFingerprint } from './cluster-memory.js';
import { aboutSkill, ownerOf } from './skill-author.js';
import { SkillGuards } from './skill-guards.js';
import './skill-synthesis.events.js';
import type { DraftedSkill, SynthesisRule } from './skill-synthesis.models.js';
import type { SkillRow } from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** Lets a draft become a skill, or says what is against it. Joins the running transaction, in which the marks on the source episodes stand too. */
@Injectable()
export class DraftAdmission {
  constructor(
    private readonly skills: SynthesizedSkillStore,
    private readonly guards: SkillGuards,
    private readonly trajectories: EpisodeTrajectories,
    private readonly events: EventBus,
  ) {}

  /**
   * Why the draft may not become a skill by now, null where it may: then nothing that others do changes it before the
   * transaction ends. What is no longer there has been erased, and a text that was made of it must not be kept.
   */
  async problem(draft: DraftedSkill): Promise<SynthesisRule | null> {
    if (!(await this.trajectories.hold(ownerOf(draft), draft.source.episodeIds))) return 'sources_gone';
    return this.conflict(draft);
  }

  /** As `problem`, for a draft that outlives its sources since an operator judges it. */
  async conflict(draft: DraftedSkill): Promise<SynthesisRule | null> {
    const full = await this.skills.capProblem(ownerOf(draft));
    return full ? full.rule : this.guards.draftProblem(draft);
  }

  /** Stores what `problem` had nothing against. `released`: although screening flags it. */
  async create(draft: DraftedSkill, released: boolean): Promise<SkillRow> {
    const { source } = draft;
    const creation = await this.skills.create({
      ...ownerOf(draft),
      name: draft.name,
      description: draft.description,
      content: draft.content,
      toolSequence: source.toolSequence,
      sourceEpisodeIds: source.episodeIds,
      sourceTurnIds: source.turnIds,
      origin: 'synthesized',
      trigger: draft.trigger,
      clusterFingerprint: clusterFingerprint(source.toolSequence),
      operatorReleased: released,
    });
    if (creation.status === 'refused') throw new Error(`the draft "${draft.name}" was refused: ${creation.message}`);
    const { skill } = creation;
    this.events.publish('skill.synthesized', {
      ...aboutSkill(draft),
      payload: {
        skill_name: skill.name,
        skill_id: skill.id,
        trigger: draft.trigger,
        cluster_size: source.episodeIds.length,
        tool_count: source.toolSequence.length,
      },
    });
    return skill;
  }
}
