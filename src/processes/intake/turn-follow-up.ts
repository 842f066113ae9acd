import { Injectable } from '@nestjs/common';
import { CompactionQueue } from '../lifecycle/compaction.queue.js';
import { ReflectionQueue } from '../reflection/reflection.queue.js';
import { TurnAnnouncement } from './turn-announcement.js';
import { type TurnDraft, TurnDrafts } from './turn-drafts.js';

/** What a stored turn leads to. All of it joins the transaction that stores the turn. */
@Injectable()
export class TurnFollowUp {
  constructor(
    private readonly reflections: ReflectionQueue,
    private readonly compactions: CompactionQueue,
    private readonly drafts: TurnDrafts,
    private readonly announcement: TurnAnnouncement,
  ) {}

  /** The last thing of the transaction. */
  async arrange(draft: TurnDraft, options: { reflect: boolean; taskSummary: string }): Promise<void> {
    const { agent, record } = draft;
    const { orgId, turnId } = record;
    if (options.reflect) await this.reflections.enqueue({ orgId, agentId: agent.id, turnId });
    await this.drafts.seen(draft);
    await this.compactions.requestWhereOver({ ...record, agent });
    this.announcement.publish(draft, options.taskSummary);
  }

  /** For a turn whose body is superseded: what was arranged for it and has not ended yet. */
  async forget(orgId: string, turnId: string): Promise<void> {
    await this.reflections.forgetUnfinished(orgId, turnId);
  }
}
