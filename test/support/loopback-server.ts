import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body; null where there is none. */
  body: unknown;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface LoopbackReply {
  status: number;
  /** Sent as JSON, a string as it is. */
  body: unknown;
  headers?: Record<string, string>;
  /** Milliseconds to wait before answering; Infinity never answers. */
  delayMs?: number;
}

/** A JSON server on 127.0.0.1 with a port of its own. What it has not answered when it closes, it drops. */
export class LoopbackServer {
  private readonly timers = new Set<NodeJS.Timeout>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** `port` 0 lets the system choose. */
  static async start(
    answer: (request: LoopbackRequest) => LoopbackReply | Promise<LoopbackReply>,
    port = 0,
  ): Promise<LoopbackServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    const loopback = new LoopbackServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => {
      loopback.handle(request, response, answer).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { 'x-should-retry': 'false' });
        response.end(String(error));
      });
    });
    return loopback;
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (request: LoopbackRequest) => LoopbackReply | Promise<LoopbackReply>,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const reply = await answer({
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: request.headers,
      body: text === '' ? null : (JSON.parse(text) as unknown),
      at: Date.now(),
    });
    const send = (): void => {
      const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(body);
    };
    if (!reply.delayMs) send();
    else if (Number.isFinite(reply.delayMs)) {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        if (!response.destroyed) send();
      }, reply.delayMs);
      this.timers.add(timer);
    }
  }
}
