import { type LoopbackReply, type LoopbackRequest, LoopbackServer } from './loopback-server.js';

/** What a server answers instead of what it should. */
export interface Fault extends Partial<LoopbackReply> {
  /** How many requests it befalls. @default all from now on */
  times?: number;
  /** Befalls requests with this method alone. @default all */
  method?: string;
}

export interface VendorRequestSeen extends LoopbackRequest {
  /** Without the query. */
  route: string;
  query: URLSearchParams;
}

/** What the stand-ins of both vendors share: requests seen, and faults on demand. */
export abstract class VendorServer {
  readonly requests: VendorRequestSeen[] = [];
  private fault: (Fault & { route?: RegExp }) | null = null;
  private server: LoopbackServer;

  protected async listen(): Promise<void> {
    this.server = await LoopbackServer.start((request) => this.handle(request));
  }

  get origin(): string {
    return this.server.url;
  }

  /** From now on, or for `times` requests; null mends it. */
  fail(fault: Fault | null): this {
    this.fault = fault;
    return this;
  }

  /** As `fail`, for the requests to some routes. */
  failTo(route: RegExp, fault: Fault): this {
    this.fault = { ...fault, route };
    return this;
  }

  requestsTo(route: RegExp): VendorRequestSeen[] {
    return this.requests.filter((request) => route.test(request.route));
  }

  close(): Promise<void> {
    return this.server.close();
  }

  protected abstract answer(request: VendorRequestSeen): LoopbackReply;

  private handle(request: LoopbackRequest): LoopbackReply {
    const url = new URL(request.path, 'http://server.invalid');
    const seen = { ...request, route: decodeURI(url.pathname), query: url.searchParams };
    this.requests.push(seen);
    const { fault } = this;
    if (!fault || (fault.route && !fault.route.test(seen.route))) return this.answer(seen);
    if (fault.method !== undefined && fault.method !== seen.method) return this.answer(seen);
    if (fault.times !== undefined) {
      fault.times -= 1;
      if (fault.times <= 0) this.fault = null;
    }
    const { status, body, headers, delayMs } = fault;
    const due = status === undefined && body === undefined ? this.answer(seen) : { status: 200, body: {} };
    return {
      status: status ?? due.status,
      body: body ?? due.body,
      headers: headers ?? {},
      delayMs,
    };
  }
}
