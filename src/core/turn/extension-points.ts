import type { FinishedTurn, Interaction } from './turn.models.js';

/** The agent that a call or a turn belongs to. */
export interface AgentRef {
  id: string;
  handle: string;
  role: string;
}

/** What a part needs to know of the agent's role. */
export interface RoleContext {
  name: string;
  /** The names of the auxiliary providers, in the order in which they are tried; empty: no model is configured. */
  chain: readonly string[];
}

/** W3C trace context of the host turn, for events; null where the turn engine sent none. */
export interface TraceContext {
  traceId: string | null;
  spanId: string | null;
}

/** One memory as it stood in the personal-memory block of a turn. */
export interface ShownLine {
  id: string;
  content: string;
}

// ---------------------------------------------------------------------------------------------- reflection

/** A finished turn as it was stored, with what intake computed for it. */
export interface StoredTurn extends TraceContext {
  orgId: string;
  agent: AgentRef;
  turn: FinishedTurn;
  episodeId: string;
  /** `''` where the turn had no trigger events. */
  workKey: string;
  salientText: string;
}

export interface ReflectionInput {
  turn: StoredTurn;
  /** What the turn's own memory block showed; null where no plan context is stored. */
  shown: { lines: readonly ShownLine[] } | null;
  role: RoleContext;
  /** Aborted when the service shuts down; hand it to every model call. */
  signal: AbortSignal;
}

export interface WorkerResult {
  /** `noop`: there was nothing to learn, or a rule refused the draft. `failed`: the answer was unusable; final. */
  outcome: 'done' | 'noop' | 'failed';
  /** Snake case, e.g. `near_duplicate`, `unusable_answer`; shown by `GET /turns/:turn_id`. */
  reason?: string;
  /** For people: what was wrong with the answer, e.g. why it is unusable. */
  error?: string;
  /**
   * The writes. Runs in the transaction of the ledger row, so both are there or neither; no model or HTTP call. What
   * is found out only here, such as a name that was taken meanwhile, is answered as another end.
   */
  apply?(): Promise<void | { outcome: 'done' | 'noop'; reason?: string }>;
}

/** How a part of a worker ended. */
export type WorkerEnd = 'done' | 'noop' | 'skipped' | 'failed' | 'dead';

/**
 * One thing that is learned from finished turns. The ledger has one row a (turn, `name`, part); what has a final
 * row is not run again.
 */
export interface ReflectionWorker {
  /** Also the worker name of its model calls, e.g. `persist_decider`. */
  readonly name: string;

  /**
   * The passes that the turn needs, e.g. one a sender; they run at the same time. Called after `skipReason` answered null; must answer the same
   * for the same turn. The keys outlive the turn's body, so they name nobody. Absent: one pass with the key `''`.
   */
  parts?(input: ReflectionInput): readonly string[];

  /** Why this turn is not the worker's business (`non_terminal`, `no_model`, …); null if it is. Reads only. */
  skipReason(input: ReflectionInput): string | null | Promise<string | null>;

  /**
   * May call the model and reads; writes nothing. Throws `AuxiliaryUnavailable` as it comes: transient faults are retried for this
   * part alone, a refusal ends it `dead`. Any other throw is retried too.
   */
  run(input: ReflectionInput, part: string): Promise<WorkerResult>;

  /**
   * What has to be counted whatever the model said: called once for each part that ends, in the transaction of its
   * final ledger row and after `apply`, also where it was skipped (with the key `''` if the whole worker was) or is
   * dead. An operator's retry of a dead part settles it no second time. No model or HTTP call.
   */
  settle?(input: ReflectionInput, part: string, end: WorkerEnd): Promise<void>;
}

// ------------------------------------------------------------------------------------------------ planning

/** The blocks of a plan context, in the order in which they stand in the prompt. */
export const PLAN_BLOCK_KEYS = [
  'onboarding',
  'personal_memory',
  'synthesized_skills',
  'relevant_knowledge',
  'similar_prior_work',
  'counterparty',
  'tool_skills',
] as const;

export type PlanBlockKey = (typeof PLAN_BLOCK_KEYS)[number];

/**
 * Why a block holds what it holds. `selected`: entries are rendered. `hint_thin_trigger`, `hint_no_match`: the text is
 * a hint to search again later. The others leave it empty: `nothing_stored`, `not_applicable` (this turn or role has
 * no use for it), `not_configured`, `model_unavailable` (no provider, or none answered), `filter_failed` (the model's
 * answer was unusable), `search_failed`, `nothing_to_match` (the salient text is empty), `deadline`.
 */
export type BlockReason =
  | 'selected'
  | 'hint_thin_trigger'
  | 'hint_no_match'
  | 'nothing_stored'
  | 'not_applicable'
  | 'not_configured'
  | 'model_unavailable'
  | 'filter_failed'
  | 'search_failed'
  | 'nothing_to_match'
  | 'deadline';

/** What is known of a turn when it starts; the same for every block and, once stored, for every tool call. */
export interface PlanContext extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  conversationId: string | null;
  taskDescription: string;
  interactions: readonly Interaction[];
  /** `''` where all that was sent was empty: blocks that match against it answer `nothing_to_match`. */
  salientText: string;
  /** The thin-trigger gate: no embedding, no vector search and no model call may be spent where it is true. */
  requiresRecon: boolean;
  availableTools: readonly string[];
  mcpServers: readonly string[];
  /** Read once for the whole context, so that all blocks agree on what has expired. */
  frozenAt: Date;
}

export interface BlockResult {
  /** Without the heading; `''` hides the block. Deterministic: no clock in it, no chance. */
  text: string;
  /** Entries rendered; 0 for a hint. */
  selection_count: number;
  reason: BlockReason;
  /** The memories that stand in the text; stored with the context, so that they are not learned again. */
  shown?: readonly ShownLine[];
  /** Runs in the transaction that first stores these bytes, and never for bytes that came second. */
  afterFreeze?(): Promise<void>;
}

/** One block of the plan prompt. A throw leaves the block empty with `search_failed`; it never fails the call. */
export interface PlanBlock {
  readonly key: PlanBlockKey;
  /** Markdown, e.g. `## Personal memory`. */
  readonly heading: string;
  /** `signal` is aborted at the planning deadline; the block then reads `deadline`, whatever it answers later. */
  resolve(context: PlanContext, signal: AbortSignal): Promise<BlockResult>;
}

// --------------------------------------------------------------------------------------------------- tools

export const TURN_PHASES = ['plan', 'execute', 'review'] as const;
export type TurnPhase = (typeof TURN_PHASES)[number];

export interface ToolDefinition {
  /** Snake case, e.g. `query_episodes`. */
  name: string;
  /** One line that says when to use the tool. */
  description: string;
  /** JSON Schema of the arguments: an object schema, the shape that Anthropic and MCP use. */
  input_schema: Record<string, unknown>;
}

export interface ToolCall extends TraceContext {
  orgId: string;
  agent: AgentRef;
  role: RoleContext;
  turnId: string;
  phase: TurnPhase;
  /** As the model wrote them: unchecked. */
  arguments: Record<string, unknown>;
  /** The stored context of the turn; null where none was asked for. */
  context: PlanContext | null;
  signal: AbortSignal;
}

/** The wire form. What the model got wrong is an answer it can act on, with `is_error: true`; never a throw. */
export interface ToolResult {
  output: string;
  is_error: boolean;
  data: Record<string, unknown> | null;
}

export interface AgentTool {
  readonly definition: ToolDefinition;
  /** A call in another phase is refused before `run`. */
  readonly phases: readonly TurnPhase[];
  run(call: ToolCall): Promise<ToolResult>;
}

// ---------------------------------------------------------------------------------------------- quarantine

/** A write that screening held back, as its own room stated it. */
export interface HeldWrite<Payload = unknown> {
  orgId: string;
  agentId: string;
  turnId: string | null;
  /** What the room handed to `Quarantine.hold`, after a round trip through JSON. */
  payload: Payload;
}

/** How one kind of held write is carried out once an operator releases it. */
export interface QuarantinedWrite {
  /** Stored with the held write, e.g. `diary`, `skill`. */
  readonly kind: string;
  /**
   * Carries the write out without screening it again. Runs in the transaction that removes the held row, so it makes
   * no model or HTTP call: a vector is left to the `embed-missing` job.
   */
  apply(held: HeldWrite): Promise<void>;
}
