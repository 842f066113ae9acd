import { type LoopbackReply, type LoopbackRequest, LoopbackServer } from './loopback-server.js';

export interface EmbedderRequest {
  texts: string[];
  model: string;
  dimensions?: number;
}

/**
 * An embeddings server (`/v1/embeddings`) whose vectors depend on the text alone. By default it embeds everything;
 * `fails` decides which requests it refuses.
 */
export class ScriptedEmbedder {
  readonly requests: EmbedderRequest[] = [];
  dimensions = 8;
  /** What a request is refused with; null embeds it. */
  fails: (request: EmbedderRequest) => Partial<LoopbackReply> | null = () => null;
  /** Changes what is answered when nothing failed. */
  mangle: (vectors: number[][]) => unknown[] = (vectors) => vectors;
  private server: LoopbackServer;

  /** `port` 0 lets the system choose; give one to come up where nothing was before. */
  static async start(port = 0): Promise<ScriptedEmbedder> {
    const embedder = new ScriptedEmbedder();
    embedder.server = await LoopbackServer.start((request) => embedder.answer(request), port);
    return embedder;
  }

  /** What `OPENAI_BASE_URL` and `embeddings.base_url` take. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private answer({ path, body }: LoopbackRequest): LoopbackReply {
    if (path !== '/v1/embeddings') return { status: 404, body: { error: { message: 'no such route' } } };
    const { input, model, dimensions } = body as { input: string | string[]; model: string; dimensions?: number };
    const request: EmbedderRequest = { texts: [input].flat(), model, dimensions };
    this.requests.push(request);
    const failure = this.fails(request);
    if (failure) return { status: 500, body: { error: { message: 'scripted failure' } }, ...failure };
    const vectors = request.texts.map((text) => vectorOf(text, dimensions ?? this.dimensions));
    const data = this.mangle(vectors).map((embedding, index) => ({ object: 'embedding', index, embedding }));
    return { status: 200, body: { object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } } };
  }
}

/** The vector that `ScriptedEmbedder` answers with. */
export function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 0;
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)!) % 1_000_003;
    vector[hash % dimensions]! += 1;
  }
  return vector;
}
