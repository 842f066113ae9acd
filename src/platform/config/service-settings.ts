import {
  Amount,
  Block,
  EnvName,
  HttpUrl,
  MapOf,
  NamedBlocks,
  OneOf,
  Unset,
  Whole,
  Words,
} from './option-decorators.js';

export type LlmKind = 'anthropic' | 'openai_compatible';

/** One way to a model. */
export class LlmProviderSettings {
  /** The protocol it speaks: anthropic or openai_compatible. Required. */
  @OneOf(['anthropic', 'openai_compatible'])
  kind: LlmKind;

  /** The model's name as the provider knows it. Required. */
  @Words(200)
  model: string;

  /** Its address. @default `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, else the vendor's own */
  @Unset()
  @HttpUrl()
  base_url?: string;

  /** Environment variable that holds its key. @default without `base_url` `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, else none */
  @Unset()
  @EnvName()
  api_key_env?: string;

  /** Seconds one call may take, further attempts included, 0.1..600. @default 60 */
  @Amount(0.1, 600)
  timeout_seconds = 60;

  /** Attempts after the first at a fault that passes by, 0..10. @default 2 */
  @Whole(0, 10)
  max_retries = 2;

  /** Sampling temperature, 0..2. @default unset: none is sent, as some models refuse it */
  @Unset()
  @Amount(0, 2)
  temperature?: number;

  /** Price of a million tokens read, in whatever currency, 0..1000000; for `/metrics` alone. @default unset: no cost is counted */
  @Unset()
  @Amount(0, 1_000_000)
  price_per_million_input?: number;

  /** Price of a million tokens written, in the same currency, 0..1000000. @default unset: no cost is counted */
  @Unset()
  @Amount(0, 1_000_000)
  price_per_million_output?: number;
}

/** The auxiliary models. */
export class LlmSettings {
  /**
   * Providers by name; roles refer to them in `llm` and `llm_auxiliary`, `default` serves the others.
   * @default with `ANTHROPIC_API_KEY` set, `default` = Anthropic's claude-haiku-5-5; else none
   */
  @NamedBlocks(() => LlmProviderSettings)
  providers: Map<string, LlmProviderSettings> = new Map();
}

/** How texts become vectors. */
export class EmbeddingsSettings {
  /** none (lexical search alone), hashing (built in, no network) or openai_compatible. @default hashing */
  @OneOf(['none', 'hashing', 'openai_compatible'])
  provider: 'none' | 'hashing' | 'openai_compatible' = 'hashing';

  /** Model of the server; required with openai_compatible. @default unset */
  @Unset()
  @Words(200)
  model?: string;

  /** Address of the server, path included (`…/v1`). @default `OPENAI_BASE_URL`, else the vendor's own */
  @Unset()
  @HttpUrl()
  base_url?: string;

  /** Environment variable that holds its key. @default without `base_url` `OPENAI_API_KEY`, else none */
  @Unset()
  @EnvName()
  api_key_env?: string;

  /** Length of a vector, 8..4096; asked of the server where given. @default the model's own */
  @Unset()
  @Whole(8, 4_096)
  dimensions?: number;

  /** Seconds one request may take, 0.1..600. @default 10 */
  @Amount(0.1, 600)
  timeout_seconds = 10;

  /** Attempts after the first at a fault that passes by, 0..10. @default 2 */
  @Whole(0, 10)
  max_retries = 2;
}

/** The team's knowledge base. */
export class KnowledgeSettings {
  /** Where pages are searched and drafts written: none, confluence or plane. @default none */
  @OneOf(['none', 'confluence', 'plane'])
  backend: 'none' | 'confluence' | 'plane' = 'none';

  /** Seconds one request to it may take, 0.1..600. @default 10 */
  @Amount(0.1, 600)
  timeout_seconds = 10;
}

/** How memories are searched. */
export class RetrievalSettings {
  /** exact compares with every vector of the agent; hnsw keeps an approximate index, for far more rows an agent. @default exact */
  @OneOf(['exact', 'hnsw'])
  vector_index: 'exact' | 'hnsw' = 'exact';
}

/** What a turn asks for at its start. */
export class PlanningSettings {
  /** Milliseconds in which a plan context must be answered; blocks that are late stay empty, 100..120000. @default 8000 */
  @Whole(100, 120_000)
  deadline_ms = 8_000;
}

/** Pages below one page of a Confluence space. */
export class ConfluencePagesSettings {
  /** Key of the space. Required. */
  @Words(255)
  space: string;

  /** Title of the page above them. Required. */
  @Words(255)
  parent: string;
}

/** Pages below one page of a Plane project. */
export class PlanePagesSettings {
  /** Identifier of the project. Required. */
  @Words(255)
  project: string;

  /** Title of the page above them. Required. */
  @Words(255)
  parent: string;
}

/** Guidance for tools that operators edit. */
export class ToolSkillsSettings {
  /** Directory of Markdown files, relative to this file. @default unset */
  @Unset()
  @Words(4_096)
  directory?: string;

  /** Confluence pages with such guidance. @default unset */
  @Unset()
  @Block(() => ConfluencePagesSettings)
  confluence?: ConfluencePagesSettings;

  /** Plane pages with such guidance. @default unset */
  @Unset()
  @Block(() => PlanePagesSettings)
  plane?: PlanePagesSettings;

  /** Seconds after which directory and pages are read again, 1..86400. @default 300 */
  @Whole(1, 86_400)
  refresh_seconds = 300;

  /** What `${name}` stands for in guidance, by name. @default {} */
  @MapOf('texts', (value) => typeof value === 'string')
  variables: Record<string, string> = {};
}

/** Work in the background. */
export class JobsSettings {
  /** Jobs that one replica runs at a time, 1..100. @default 4 */
  @Whole(1, 100)
  concurrency = 4;

  /** Attempts at a job that throws, before it is dead, 1..100. @default 25 */
  @Whole(1, 100)
  max_attempts = 25;
}

/** Guard against a client gone wild. */
export class RateLimitSettings {
  /** Requests a minute and key, 1..1000000; without keys there is no limit. @default 6000 */
  @Whole(1, 1_000_000)
  requests_per_minute = 6_000;
}

/** Execution slots, shared by live turns and reflection. */
export class ConcurrencySettings {
  /** Slots of an organisation over all roles, 1..10000. @default 10 */
  @Whole(1, 10_000)
  max_total = 10;
}

/** What is kept of what happened, for those who watch. */
export class TelemetrySettings {
  /**
   * Days that events are kept, 1..3650; as long as a turn's body, since they quote what was asked and planned. @default 30
   */
  @Whole(1, 3_650)
  event_retention_days = 30;

  /** Days that the record of administrative calls is kept, 1..36500: a year, so that last year's changes can be explained. @default 365 */
  @Whole(1, 36_500)
  audit_retention_days = 365;

  /** Event streams that one replica serves at a time, 1..10000; each reads the event store for itself. @default 100 */
  @Whole(1, 10_000)
  max_streams = 100;
}
