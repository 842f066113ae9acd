export type ChannelKind = 'dm' | 'group' | 'public' | 'internal' | 'unknown';
export type PlanDecision = 'plan' | 'direct' | 'skip';
export type ReviewOutcome = 'done' | 'failed' | 'self_iterate';
export type FailureReason = 'stall' | 'max_iterations' | 'exception' | 'llm_unavailable';

/** One inbound message, or the mere pointer to one, as the turn engine saw it. This IS the wire form. */
export interface Interaction {
  platform: string | null;
  external_id: string | null;
  handle: string | null;
  display_name: string | null;
  /** null: there is no body to read; `''`: the sender said nothing. */
  body: string | null;
  channel_kind: ChannelKind;
  /** The message only points at what has to be fetched before it can be understood. */
  requires_recon: boolean;
  /** ISO-8601 with zone. */
  sent_at: string | null;
}

/** A validated `POST /turns` body with its defaults filled in. This IS the wire form and the form stored in `turns.body`. */
export interface FinishedTurn {
  turn_id: string;
  /** The agent's id or handle, as posted. */
  agent: string;
  role: string;
  task_id: string | null;
  conversation_id: string | null;
  trigger_event_ids: string[];
  task_description: string;
  plan: { decision: PlanDecision; summary: string };
  /** Calls of the execute phase in call order, repeats kept. */
  tool_sequence: string[];
  /** Calls of the plan phase in call order, repeats kept. */
  plan_tool_sequence: string[];
  skills_used: string[];
  review_outcome: ReviewOutcome;
  failure_reason: FailureReason | null;
  iterations: number;
  /** ISO-8601 with zone. */
  started_at: string;
  /** ISO-8601 with zone, not before `started_at`. */
  ended_at: string;
  interactions: Interaction[];
}
