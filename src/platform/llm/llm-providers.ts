import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { LlmProviderSettings } from '../config/service-settings.js';
import { AnthropicProvider } from './anthropic.provider.js';
import type { LlmProvider } from './llm.models.js';
import { OpenAiCompatibleProvider } from './openai-compatible.provider.js';

/** The providers of the settings, by name. With none configured it is empty, and the service does without a model. */
@Injectable()
export class LlmProviders {
  private readonly providers: ReadonlyMap<string, LlmProvider>;

  constructor(settings: Settings) {
    this.providers = new Map(
      [...settings.llm.providers].map(([name, provider]) => [name, providerOf(name, provider, settings)]),
    );
  }

  /** In the order of the settings. */
  get names(): string[] {
    return [...this.providers.keys()];
  }

  get(name: string): LlmProvider | undefined {
    return this.providers.get(name);
  }
}

function providerOf(name: string, provider: LlmProviderSettings, settings: Settings): LlmProvider {
  const access = settings.llmAccess(provider);
  const options = {
    name,
    model: provider.model,
    baseUrl: access.base_url,
    apiKey: access.api_key,
    timeoutSeconds: provider.timeout_seconds,
    maxRetries: provider.max_retries,
    temperature: provider.temperature,
  };
  return provider.kind === 'anthropic' ? new AnthropicProvider(options) : new OpenAiCompatibleProvider(options);
}
