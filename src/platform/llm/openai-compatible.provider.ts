import type OpenAI from 'openai';
import { HttpLlmProvider } from './http-llm-provider.js';
import type { LlmProviderOptions, LlmReply, LlmRequest } from './llm.models.js';
import { jsonSchemaOf } from './output-format.js';
import { authorization, openAiClient } from '../outbound/openai-client.js';

/** Chat completions of any OpenAI-compatible server (OpenAI, Ollama, vLLM, LiteLLM), not streamed. */
export class OpenAiCompatibleProvider extends HttpLlmProvider {
  private readonly client: OpenAI;
  private readonly isVendor: boolean;

  constructor(options: LlmProviderOptions, now?: () => number) {
    super(options, now);
    this.client = openAiClient(options);
    this.isVendor = new URL(this.client.baseURL).hostname === 'api.openai.com';
  }

  protected async send(request: LlmRequest, signal: AbortSignal): Promise<LlmReply> {
    const { apiKey, temperature } = this.options;
    const completion = await this.client.chat.completions.create(
      {
        model: this.model,
        messages: [
          { role: 'system', content: request.system },
          { role: 'user', content: request.user },
        ],
        ...(request.maxTokens && this.bound(request.maxTokens)),
        ...(request.schema && {
          response_format: {
            type: 'json_schema' as const,
            // Not strict: that would ask for every property to be required, and a NOOP has none of them.
            json_schema: { name: request.worker, schema: jsonSchemaOf(request.schema), strict: false },
          },
        }),
        ...(temperature !== undefined && { temperature }),
      },
      { headers: { 'x-learning-worker': request.worker, ...authorization(apiKey) }, signal },
    );
    return replyOf(completion);
  }

  /** OpenAI's current models refuse the older name, the compatible servers do not know the newer one. */
  private bound(maxTokens: number): { max_tokens: number } | { max_completion_tokens: number } {
    return this.isVendor ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
  }
}

function replyOf(completion: OpenAI.ChatCompletion): LlmReply {
  // A gateway may answer 200 with anything, whatever the type says.
  const message: { content?: unknown } | undefined = completion?.choices?.[0]?.message;
  if (!message) throw new Error('the reply is no completion');
  return {
    text: withoutReasoning(textOf(message.content)),
    inputTokens: completion.usage?.prompt_tokens ?? 0,
    outputTokens: completion.usage?.completion_tokens ?? 0,
  };
}

/** Some servers answer with parts, as Anthropic does. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** Servers without a reasoning parser leave the model's thoughts before its answer; cut off in them, it has none. */
function withoutReasoning(text: string): string {
  return text.replace(/^\s*<think>(?:[\s\S]*?<\/think>|[\s\S]*$)/, '');
}
