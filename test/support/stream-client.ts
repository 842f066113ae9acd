import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';

export interface SentEvent {
  id: string;
  data: Record<string, unknown> & { id: string; type: string; turn_id: string | null };
}

/** A reader of server-sent events that keeps all it was sent. */
export class StreamClient {
  readonly events: SentEvent[] = [];
  /** Lines that begin with a colon. */
  comments = 0;
  /** The whole answer, as it came. */
  text = '';
  readonly ended: Promise<void>;
  private rest = '';

  private constructor(
    private readonly sent: ClientRequest,
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    private readonly source: NodeJS.ReadableStream,
  ) {
    source.setEncoding('utf8');
    source.on('data', (text: string) => this.read(text));
    this.ended = new Promise((resolve) => source.on('error', () => undefined).on('close', () => resolve()));
  }

  /** Resolves once the answer's header is there, whatever its status. */
  static open(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { headers, agent: false }, (answer) =>
        resolve(new StreamClient(sent, answer.statusCode!, answer.headers, answer)),
      );
      sent.on('error', reject).end();
    });
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  /** Reads nothing more until `resume`. */
  pause(): void {
    this.source.pause();
  }

  resume(): void {
    this.source.resume();
  }

  async close(): Promise<void> {
    this.sent.destroy();
    await this.ended;
  }

  private read(text: string): void {
    this.text += text;
    const frames = (this.rest + text).split('\n\n');
    this.rest = frames.pop()!;
    for (const frame of frames) {
      const lines = frame.split('\n');
      this.comments += lines.filter((line) => line.startsWith(':')).length;
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [id, data] = [field('id'), field('data')];
      if (id && data) this.events.push({ id, data: JSON.parse(data) as SentEvent['data'] });
    }
  }
}
