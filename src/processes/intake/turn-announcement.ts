import { Injectable } from '@nestjs/common';
import { isIdentifiable } from '../../core/turn/interactions.js';
import { aboutTurn } from '../../core/turn/turn-event.js';
import '../../core/turn/turn.events.js';
import '../../memories/episodes/episode.events.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { clipText } from '../../platform/text/storable-text.js';
import type { TurnDraft } from './turn-drafts.js';

/** Characters of a summary in an event. */
const SUMMARY_LIMIT = 2_000;

/** Tells of a stored turn, once it has committed; for telemetry only. */
@Injectable()
export class TurnAnnouncement {
  constructor(private readonly events: EventBus) {}

  publish({ agent, record }: TurnDraft, taskSummary: string): void {
    const turn = record.body;
    const about = aboutTurn({ ...record, agent });
    const duration = record.endedAt.getTime() - record.startedAt.getTime();
    this.events.publish('episode.written', {
      ...about,
      payload: { review_outcome: turn.review_outcome, duration_ms: duration, tool_count: turn.tool_sequence.length },
    });
    this.events.publish('turn.completed', {
      ...about,
      payload: {
        task_id: turn.task_id,
        started_at: turn.started_at,
        ended_at: turn.ended_at,
        duration_ms: duration,
        task_summary: clipText(taskSummary, SUMMARY_LIMIT),
        plan_summary: clipText(turn.plan.summary, SUMMARY_LIMIT),
        plan_decision: turn.plan.decision,
        tool_sequence: turn.tool_sequence,
        plan_tool_sequence: turn.plan_tool_sequence,
        skills_used: turn.skills_used,
        review_outcome: turn.review_outcome,
        iterations: turn.iterations,
        interactions: turn.interactions.filter(isIdentifiable).map(({ body: _body, ...who }) => who),
      },
    });
  }
}
