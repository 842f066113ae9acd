import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pathToFileURL } from 'node:url';
import { scriptedAnswer } from './local-model-answers.js';

/** What the answers name as their model, so that nobody takes them for an AI's. */
export const SCRIPTED_MODEL = 'scripted-local-model';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const ABOUT = `${SCRIPTED_MODEL}: a set of rules that answers like Anthropic's POST /v1/messages. It is not an AI.\n`;

export interface LocalModel {
  /** For `ANTHROPIC_BASE_URL`. */
  url: string;
  close(): Promise<void>;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
  ) {
    super(message);
  }
}

interface MessagesRequest {
  system: string;
  user: string;
}

/** Serves Anthropic's `POST /v1/messages` from rules, on loopback; port 0 or none lets the system choose. */
export async function startLocalModel({ port = 0 }: { port?: number } = {}): Promise<LocalModel> {
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the local model has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** About one token for four characters of Latin script and for each character of the others; for the usage figures only. */
export function estimatedTokens(text: string): number {
  const wide =
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / 4);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (request.method === 'GET' && path === '/') {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(ABOUT);
      return;
    }
    if (path !== '/v1/messages') throw new Refusal(404, 'not_found_error', `there is nothing at ${path}`);
    if (request.method !== 'POST') throw new Refusal(405, 'invalid_request_error', 'only POST is answered here');
    const worker = request.headers['x-learning-worker'];
    if (typeof worker !== 'string' || worker === '') {
      throw new Refusal(
        400,
        'invalid_request_error',
        'x-learning-worker must say who asks: there are rules for learning workers alone',
      );
    }
    const prompt = promptOf(await bodyOf(request));
    const text = scriptedAnswer(worker, prompt);
    sendJson(response, 200, {
      id: `msg_${randomUUID().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: SCRIPTED_MODEL,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: estimatedTokens(prompt.system + prompt.user), output_tokens: estimatedTokens(text) },
    });
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'api_error', String(error));
    sendJson(response, refusal.status, { type: 'error', error: { type: refusal.type, message: refusal.message } });
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES)
      throw new Refusal(413, 'request_too_large', `the body is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal(400, 'invalid_request_error', 'the body is not JSON');
  }
}

function promptOf(body: unknown): MessagesRequest {
  const { model, max_tokens: maxTokens, system, messages, stream } = (body ?? {}) as Record<string, unknown>;
  const wrong = (message: string): Refusal => new Refusal(400, 'invalid_request_error', message);
  if (typeof model !== 'string' || model === '') throw wrong('model: a name is required');
  if (!Number.isInteger(maxTokens) || (maxTokens as number) < 1)
    throw wrong('max_tokens: a whole number of at least 1 is required');
  if (stream === true) throw wrong('stream: answers are not streamed here');
  if (!Array.isArray(messages) || messages.length === 0) throw wrong('messages: at least one is required');
  const user = (messages as { role?: unknown; content?: unknown }[])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content));
  if (user.length === 0 || user.includes(null)) throw wrong('messages: each user message needs text');
  const systemText = system === undefined ? '' : textOf(system);
  if (systemText === null) throw wrong('system: text is required');
  return { system: systemText, user: user.join('\n\n') };
}

/** The text of a string or of a list of text blocks; null for anything else. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = (content as { type?: unknown; text?: unknown }[]).map((block) =>
    block?.type === 'text' ? block.text : null,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : null;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  startLocalModel({ port: Number(process.env.PORT ?? 0) }).then(
    (model) => {
      process.stdout.write(`${ABOUT}ANTHROPIC_API_KEY=${SCRIPTED_MODEL} ANTHROPIC_BASE_URL=${model.url}\n`);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void model.close());
    },
    (error: Error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    },
  );
}
