import type { IncomingHttpHeaders } from 'node:http';
import { type LoopbackReply, type LoopbackRequest, LoopbackServer } from './loopback-server.js';

export interface ModelRequest {
  /** Of the header `x-learning-worker`; empty where there is none. */
  worker: string;
  system: string;
  user: string;
  body: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  path: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface ModelReply {
  /** @default 200 */
  status?: number;
  /** With status 200 a string is the model's text, anything else the raw reply; else the error's body. */
  body?: unknown;
  /** Milliseconds to wait before answering; Infinity never answers. */
  delayMs?: number;
  headers?: Record<string, string>;
}

export type ModelScript = (request: ModelRequest) => string | ModelReply | Promise<string | ModelReply>;

/** A model that says what a test scripts, over Anthropic's `/v1/messages` and OpenAI's `/v1/chat/completions`. */
export class ScriptedModel {
  readonly requests: ModelRequest[] = [];
  private readonly scripts = new Map<string, ModelScript>();
  private server: LoopbackServer;

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    model.server = await LoopbackServer.start((request) => model.answer(request));
    return model;
  }

  /** What `ANTHROPIC_BASE_URL` takes. */
  get anthropicUrl(): string {
    return this.server.url;
  }

  /** What `OPENAI_BASE_URL` takes. */
  get openAiUrl(): string {
    return `${this.server.url}/v1`;
  }

  /** What `worker` is answered from now on; `*` is for all that have no script of their own. The default is NOOP. */
  reply(worker: string, script: string | ModelReply | ModelScript): this {
    this.scripts.set(worker, typeof script === 'function' ? script : () => script);
    return this;
  }

  /** Forgets every script and every request. */
  reset(): void {
    this.scripts.clear();
    this.requests.length = 0;
  }

  requestsOf(worker: string): ModelRequest[] {
    return this.requests.filter((request) => request.worker === worker);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async answer({ path, headers, body, at }: LoopbackRequest): Promise<LoopbackReply> {
    const anthropic = path === '/v1/messages';
    if (!anthropic && path !== '/v1/chat/completions')
      return { status: 404, body: { error: { message: 'no such route' } } };
    const json = (body ?? {}) as Record<string, unknown>;
    const messages = (json.messages ?? []) as { role: string; content: string }[];
    const said = (role: string): string => messages.find((message) => message.role === role)?.content ?? '';
    const request: ModelRequest = {
      worker: String(headers['x-learning-worker'] ?? ''),
      system: anthropic ? ((json.system as string | undefined) ?? '') : said('system'),
      user: said('user'),
      body: json,
      headers,
      path,
      at,
    };
    this.requests.push(request);
    const script = this.scripts.get(request.worker) ?? this.scripts.get('*');
    const scripted = script ? await script(request) : 'NOOP';
    const reply = typeof scripted === 'string' ? { body: scripted } : scripted;
    const { status = 200, delayMs } = reply;
    const text = status === 200 && (reply.body === undefined || typeof reply.body === 'string');
    return {
      status,
      delayMs,
      headers: reply.headers,
      body: text
        ? completion(anthropic, request, (reply.body ?? 'NOOP') as string)
        : (reply.body ?? { type: 'error', error: { type: 'scripted', message: `scripted ${status}` } }),
    };
  }
}

function completion(anthropic: boolean, request: ModelRequest, text: string): unknown {
  const { model } = request.body;
  const [input, output] = [tokensOf(request.system + request.user), tokensOf(text)];
  if (anthropic) {
    return {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    };
  }
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

/** A token every four characters, so that a test can say what a call costs. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
