import { Allow } from 'class-validator';
import { Environment } from './environment.js';
import { LearningSettings } from './learning-settings.js';
import { Block, isEnvNameList, MapOf } from './option-decorators.js';
import {
  ConcurrencySettings,
  EmbeddingsSettings,
  JobsSettings,
  KnowledgeSettings,
  type LlmProviderSettings,
  LlmSettings,
  PlanningSettings,
  RateLimitSettings,
  RetrievalSettings,
  TelemetrySettings,
  ToolSkillsSettings,
} from './service-settings.js';

/** Where a model or an embedder is reached; unset address: the vendor's own. */
export interface Access {
  base_url?: string;
  api_key?: string;
}

/** What learning.yaml may say. */
export class FileSettings {
  /** Seeds an organisation that does not exist yet; the form is that of `PUT /organization`. @default unset */
  @Allow()
  organization: unknown;

  /** Organisation name → environment variables that its document may name as secrets. @default {} */
  @MapOf('lists of environment variable names', isEnvNameList)
  secret_env: Record<string, string[]> = {};

  @Block(() => LlmSettings)
  llm = new LlmSettings();

  @Block(() => EmbeddingsSettings)
  embeddings = new EmbeddingsSettings();

  @Block(() => KnowledgeSettings)
  knowledge = new KnowledgeSettings();

  @Block(() => RetrievalSettings)
  retrieval = new RetrievalSettings();

  @Block(() => PlanningSettings)
  planning = new PlanningSettings();

  @Block(() => ToolSkillsSettings)
  tool_skills = new ToolSkillsSettings();

  @Block(() => JobsSettings)
  jobs = new JobsSettings();

  @Block(() => RateLimitSettings)
  rate_limit = new RateLimitSettings();

  @Block(() => ConcurrencySettings)
  concurrency = new ConcurrencySettings();

  @Block(() => TelemetrySettings)
  telemetry = new TelemetrySettings();

  @Block(() => LearningSettings)
  learning = new LearningSettings();
}

/** Everything the service is told from outside: learning.yaml and the environment, checked. Made by `loadSettings`. */
export class Settings extends FileSettings {
  environment = new Environment();

  /** Private, so that neither a log nor a serialiser meets the whole environment. */
  #env: NodeJS.ProcessEnv = {};

  static of(file: FileSettings, environment: Environment, env: NodeJS.ProcessEnv): Settings {
    const settings = Object.assign(new Settings(), file, { environment });
    settings.#env = env;
    return settings;
  }

  /** The value of an environment variable that learning.yaml names; undefined where unset or empty. */
  secret(envName: string): string | undefined {
    return this.#env[envName]?.trim() || undefined;
  }

  /** The variables that `secret_env` lets the document of an organisation name; `isIt` says which entry is its own. */
  organizationSecretNames(isIt: (organization: string) => boolean): ReadonlySet<string> {
    const own = Object.entries(this.secret_env).filter(([organization]) => isIt(organization));
    return new Set(own.flatMap(([, names]) => names));
  }

  /** The value of a variable that an organisation's document names; undefined where unset or not listed for it. */
  organizationSecret(isIt: (organization: string) => boolean, envName: string): string | undefined {
    return this.organizationSecretNames(isIt).has(envName) ? this.secret(envName) : undefined;
  }

  /** Key and address of a provider, with what the environment says where it says nothing itself. */
  llmAccess(provider: LlmProviderSettings): Access {
    const { environment } = this;
    const shared =
      provider.kind === 'anthropic'
        ? { base_url: environment.anthropic_base_url, api_key: environment.anthropic_api_key }
        : { base_url: environment.openai_base_url, api_key: environment.openai_api_key };
    return this.access(provider, shared);
  }

  /** Key and address of the embeddings server, with what the environment says where it says nothing itself. */
  embeddingsAccess(): Access {
    const { openai_base_url, openai_api_key } = this.environment;
    return this.access(this.embeddings, { base_url: openai_base_url, api_key: openai_api_key });
  }

  /** The shared key goes to the shared address alone: a server with an address of its own must name its key. */
  private access(own: { base_url?: string; api_key_env?: string }, shared: Access): Access {
    const sharedKey = own.base_url === undefined ? shared.api_key : undefined;
    return {
      base_url: own.base_url ?? shared.base_url,
      api_key: own.api_key_env === undefined ? sharedKey : this.secret(own.api_key_env),
    };
  }
}
