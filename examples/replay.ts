import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ApiClient, type Problem } from './api-client.js';

/** As far as a replay looks into a turn; the rest is the service's to judge. */
export interface TurnLine {
  turn_id: string;
  agent: string;
  started_at: string;
  ended_at: string;
  review_outcome: string;
}

/** `conflict`: the service keeps that turn_id with another content, e.g. a `self_iterate` turn that was posted again since. */
export type PostStatus = 'accepted' | 'superseded' | 'duplicate' | 'conflict' | 'rejected';

export interface PostedTurn {
  turn: TurnLine;
  status: PostStatus;
  /** The id that the service keeps the turn under: the first one's, for a duplicate. */
  turnId: string;
  /** Why it was rejected. */
  problem?: string;
}

export interface ReplayOptions {
  api: ApiClient;
  turns: readonly TurnLine[];
  /** Agents whose turns are posted at the same time, at least 1. @default 4 */
  concurrency?: number;
  /** Called after each answer. */
  onPosted?: (posted: PostedTurn) => void;
  /** Stops posting; what is under way is finished. */
  signal?: AbortSignal;
}

/** The turns of an NDJSON file in its order. Throws with the line's number where a line is no JSON object. */
export async function readTurns(path: string): Promise<TurnLine[]> {
  const turns: TurnLine[] = [];
  for (const [index, line] of (await readFile(path, 'utf8'))
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    turns.push(parsedLine(line, `${path}:${index + 1}`));
  }
  return turns;
}

/** In the order in which the turns ended; equal times keep their order. */
export function inTimeOrder(turns: readonly TurnLine[]): TurnLine[] {
  return [...turns].sort((a, b) => Date.parse(a.ended_at) - Date.parse(b.ended_at) || 0);
}

/**
 * Posts turns one by one. Turns of one agent never overtake each other, since a later turn may correct an earlier one;
 * different agents are posted side by side.
 */
export async function replay({ api, turns, concurrency = 4, onPosted, signal }: ReplayOptions): Promise<PostedTurn[]> {
  const byAgent = new Map<string, TurnLine[]>();
  for (const turn of turns) byAgent.set(turn.agent, [...(byAgent.get(turn.agent) ?? []), turn]);
  const lanes = [...byAgent.values()];
  const posted: PostedTurn[] = [];
  const drain = async (): Promise<void> => {
    for (let lane = lanes.shift(); lane && !signal?.aborted; lane = lanes.shift()) {
      for (const turn of lane) {
        if (signal?.aborted) return;
        const answer = await post(api, turn);
        posted.push(answer);
        onPosted?.(answer);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, drain));
  return posted;
}

/** `12 accepted, 1 duplicate`, in a fixed order and without what did not occur. */
export function countsOf(posted: readonly PostedTurn[]): string {
  const order: PostStatus[] = ['accepted', 'superseded', 'duplicate', 'conflict', 'rejected'];
  const counts = order.map((status) => ({ status, count: posted.filter((turn) => turn.status === status).length }));
  const occurred = counts.filter(({ count }) => count > 0).map(({ status, count }) => `${count} ${status}`);
  return occurred.join(', ') || 'nothing posted';
}

async function post(api: ApiClient, turn: TurnLine): Promise<PostedTurn> {
  const { status, body } = await api.request<Problem & { status?: PostStatus; turn_id?: string }>(
    'POST',
    '/turns',
    turn,
  );
  if (status < 400 && body.status) return { turn, status: body.status, turnId: body.turn_id ?? turn.turn_id };
  if (body.code === 'turn.conflict') return { turn, status: 'conflict', turnId: turn.turn_id };
  const errors = (body.errors ?? []).map(({ path, message }) => `${path} ${message}`);
  const problem = [`${status} ${body.code ?? ''}`.trim(), body.detail, ...errors].filter(Boolean).join(': ');
  return { turn, status: 'rejected', turnId: turn.turn_id, problem };
}

function parsedLine(line: string, where: string): TurnLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${where} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${where} is not a JSON object`);
  return value as TurnLine;
}

const USAGE = `Usage: node dist/examples/replay.js <file.ndjson>... [--url http://127.0.0.1:3000] [--key KEY] [--concurrency 4]
Posts the turns of each file to a running service, in the order in which they ended, and prints the counts by status.`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:3000' },
      key: { type: 'string', default: process.env.ADMIN_API_KEY ?? '' },
      concurrency: { type: 'string', default: '4' },
      help: { type: 'boolean', default: false },
    },
  });
  const concurrency = Number(values.concurrency);
  if (values.help || positionals.length === 0 || !Number.isInteger(concurrency) || concurrency < 1) {
    process.stderr.write(`${USAGE}\n`);
    return values.help ? 0 : 2;
  }
  const turns = (await Promise.all(positionals.map(readTurns))).flat();
  const started = performance.now();
  const posted = await replay({
    api: new ApiClient(values.url, values.key),
    turns: inTimeOrder(turns),
    concurrency,
    onPosted: ({ turn, status, problem }) => {
      if (status === 'rejected') process.stderr.write(`rejected ${turn.turn_id} of ${turn.agent}: ${problem}\n`);
    },
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(`${turns.length} turns in ${seconds} s: ${countsOf(posted)}\n`);
  return posted.some(({ status }) => status === 'rejected') ? 1 : 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main().then(
    (code) => {
      process.exitCode = code;
    },
    (error: Error) => {
      const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
      process.stderr.write(`${error.message}${cause}\n`);
      process.exitCode = 1;
    },
  );
}
