import { Injectable } from '@nestjs/common';
import type { ReflectionInput, ReflectionWorker, WorkerResult } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { EpisodeTrajectories } from '../episodes/episode-trajectories.js';
import { SKILL_SYNTHESIZER, SkillSynthesizer } from './skill-synthesizer.js';

/**
 * The single-turn path of the SkillSynthesizer: one done turn with many tool calls is drafted from at once. Turns that are
 * stored without a reflection, as a back-fill does, are left to the clustered path.
 */
@Injectable()
export class SingleTurnSynthesis implements ReflectionWorker {
  readonly name = SKILL_SYNTHESIZER;

  constructor(
    private readonly synthesizer: SkillSynthesizer,
    private readonly trajectories: EpisodeTrajectories,
    private readonly settings: Settings,
  ) {}

  /** `non_terminal` stands for every turn that is not done: a failure teaches no procedure. */
  skipReason({ turn: { turn }, role }: ReflectionInput): string | null {
    const { enabled, min_tool_calls: least } = this.settings.learning.skill_synthesis;
    if (!enabled) return 'disabled';
    if (turn.review_outcome !== 'done') return 'non_terminal';
    if (turn.tool_sequence.length < least) return 'too_few_tools';
    return role.chain.length === 0 ? 'no_model' : null;
  }

  async run({ turn: stored, role, signal }: ReflectionInput): Promise<WorkerResult> {
    const { orgId, agent, turn, episodeId, traceId, spanId } = stored;
    const leader = await this.trajectories.find({ orgId, agentId: agent.id }, episodeId);
    // A cluster that it belongs to may have become a skill while its reflection waited.
    if (!leader) return { outcome: 'noop', reason: 'sources_gone' };
    return this.synthesizer.synthesize(
      { orgId, agent, trigger: 'single_turn', turnId: turn.turn_id, leader, members: [leader], traceId, spanId },
      { chain: role.chain, signal },
    );
  }
}
