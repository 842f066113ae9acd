import Anthropic from '@anthropic-ai/sdk';
import { HttpLlmProvider } from './http-llm-provider.js';
import type { LlmProviderOptions, LlmReply, LlmRequest } from './llm.models.js';
import { jsonSchemaOf } from './output-format.js';
import { sdkFetch } from '../outbound/sdk-fetch.js';

const VENDOR_URL = 'https://api.anthropic.com';

/** The Messages API wants a bound; no worker's answer comes near this one. */
const DEFAULT_MAX_TOKENS = 8_192;

/** Anthropic's Messages API, not streamed. */
export class AnthropicProvider extends HttpLlmProvider {
  private readonly client: Anthropic;

  constructor(options: LlmProviderOptions, now?: () => number) {
    super(options, now);
    const timeoutMs = options.timeoutSeconds * 1000;
    // Everything is given, so that the SDK looks neither into the environment nor for credential files.
    this.client = new Anthropic({
      baseURL: options.baseUrl ?? VENDOR_URL,
      apiKey: options.apiKey ?? '',
      webhookKey: null,
      timeout: timeoutMs,
      maxRetries: options.maxRetries,
      fetch: sdkFetch(timeoutMs),
      logLevel: 'off',
      openTelemetry: { traces: false, propagation: false },
    });
  }

  protected async send(request: LlmRequest, signal: AbortSignal): Promise<LlmReply> {
    const { apiKey, temperature } = this.options;
    const message = await this.client.messages.create(
      {
        model: this.model,
        max_tokens: request.maxTokens || DEFAULT_MAX_TOKENS,
        system: request.system,
        messages: [{ role: 'user', content: request.user }],
        ...(request.schema && {
          output_config: { format: { type: 'json_schema' as const, schema: jsonSchemaOf(request.schema) } },
        }),
        ...(temperature !== undefined && { temperature }),
      },
      {
        headers: { 'x-learning-worker': request.worker, authorization: apiKey ? `Bearer ${apiKey}` : null },
        signal,
      },
    );
    return replyOf(message);
  }
}

function replyOf(message: Anthropic.Message): LlmReply {
  // A gateway may answer 200 with anything, whatever the type says.
  if (!Array.isArray(message?.content)) throw new Error('the reply is no message');
  const usage: Partial<Anthropic.Usage> = message.usage ?? {};
  return {
    text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    inputTokens:
      (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
    outputTokens: usage.output_tokens ?? 0,
  };
}
