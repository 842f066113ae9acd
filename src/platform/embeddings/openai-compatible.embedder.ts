import OpenAI from 'openai';
import { OutOfTime, withDeadline } from '../outbound/deadline.js';
import { authorization, openAiClient } from '../outbound/openai-client.js';
import { clipText, storableText } from '../text/storable-text.js';
import { type Embedder, EmbeddingError } from './embedder.models.js';

export interface EmbeddingServerOptions {
  model: string;
  /** Unset: the vendor's own address. */
  baseUrl?: string;
  /** Unset: no key is sent. */
  apiKey?: string;
  /** Asked of the server where given; else its own are taken as they come. */
  dimensions?: number;
  /** For one request, its retries included. */
  timeoutSeconds: number;
  /** Attempts after the first. */
  maxRetries: number;
}

/** Shorter than this is not too long for any embedder: a refusal has another reason. */
/** The longest vector that pgvector stores. */
const MAX_LENGTH = 16_000;

const SHORTEST_SLICE = 200;

const NAMES_THE_LENGTH = /token|length|too (?:long|large|many)|context|exceed/i;

/** `/v1/embeddings` of any OpenAI-compatible server (OpenAI, Voyage, Ollama, TEI, vLLM). */
export class OpenAiCompatibleEmbedder implements Embedder {
  readonly local = false;
  readonly model: string;
  private readonly client: OpenAI;
  /** Length of this model's vectors, once one has come; nothing is assumed before. */
  private length: number | null;

  constructor(private readonly options: EmbeddingServerOptions) {
    this.model = options.dimensions === undefined ? options.model : `${options.model}@${options.dimensions}`;
    this.length = options.dimensions ?? null;
    this.client = openAiClient(options);
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]> {
    if (texts.length === 0) return [];
    try {
      return await withDeadline(this.options.timeoutSeconds * 1000, signal, (within) => this.request(texts, within));
    } catch (error) {
      throw faultOf(error);
    }
  }

  /**
   * A text of 8,000 characters has about 2,000 tokens in English and about 10,000 in Chinese, and only the server knows
   * its own limit: where it refuses a single text for its length, half of it is sent, until it fits.
   */
  private async request(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const sent = [...texts];
    for (;;) {
      try {
        return this.checked(await this.post(sent, signal), sent.length);
      } catch (error) {
        const [only, ...others] = sent;
        if (others.length > 0 || only!.length <= SHORTEST_SLICE || !refusesLength(error)) throw error;
        sent[0] = clipText(only!, Math.ceil(only!.length / 2));
      }
    }
  }

  private post(texts: string[], signal: AbortSignal): Promise<OpenAI.CreateEmbeddingResponse> {
    const { model, dimensions, apiKey } = this.options;
    return this.client.embeddings.create(
      // `float` is what every server can; left out, the SDK asks for base64.
      { model, input: texts, encoding_format: 'float', ...(dimensions !== undefined && { dimensions }) },
      { headers: authorization(apiKey), signal },
    );
  }

  private checked(response: OpenAI.CreateEmbeddingResponse, count: number): number[][] {
    // A gateway may answer 200 with anything, whatever the type says.
    const data: unknown = response?.data;
    if (!Array.isArray(data)) throw new EmbeddingError('unreachable', 'the reply holds no vectors');
    if (data.length !== count) throw new EmbeddingError('input', `${data.length} vectors came for ${count} texts`);
    const rows = data as { index?: unknown; embedding?: unknown }[];
    const inOrder = rows.every(({ index }) => typeof index === 'number')
      ? [...rows].sort((a, b) => Number(a.index) - Number(b.index))
      : rows;
    const vectors = inOrder.map(({ embedding }) => vectorOf(embedding));
    const length = this.length ?? vectors[0]!.length;
    const other = vectors.find((vector) => vector.length !== length);
    if (other) throw new EmbeddingError('input', `a vector has ${other.length} dimensions instead of ${length}`);
    this.length = length;
    return vectors;
  }
}

function vectorOf(embedding: unknown): number[] {
  const isVector =
    Array.isArray(embedding) && embedding.length > 0 && embedding.length <= MAX_LENGTH && embedding.every(isStorable);
  if (!isVector) throw new EmbeddingError('input', 'the reply holds what is no vector');
  const vector = embedding as number[];
  if (vector.every((value) => Math.fround(value) === 0))
    throw new EmbeddingError('input', 'a vector of zeros has no direction');
  return vector;
}

/** Vectors are stored as 32-bit floats. */
function isStorable(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}

function refusesLength(error: unknown): boolean {
  return isAboutInput(statusOf(error)) && NAMES_THE_LENGTH.test((error as Error).message);
}

/**
 * 401 to 404, 408, 409, 429 and redirects are about who asks and where, 502 to 504 about a server that is not there; no
 * status at all is the connection. A 500 may be what a server makes of one text that it cannot bear.
 */
function isAboutInput(status: number | undefined): boolean {
  return status !== undefined && [400, 413, 422, 500].includes(status);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof OpenAI.APIError ? (error.status as number | undefined) : undefined;
}

function faultOf(error: unknown): EmbeddingError {
  if (error instanceof EmbeddingError) return error;
  if (error instanceof OutOfTime) return new EmbeddingError('timeout', error.message);
  const message = clipText(storableText(error instanceof Error ? error.message : String(error)), 300);
  return new EmbeddingError(isAboutInput(statusOf(error)) ? 'input' : 'unreachable', message);
}
