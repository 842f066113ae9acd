import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiClient } from './api-client.js';
import { countsOf, inTimeOrder, readTurns, replay, type TurnLine } from './replay.js';

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

let server: Server;
let api: ApiClient;
let received: TurnLine[];
let underWay: number;
let mostUnderWay: number;
let answer: (turn: TurnLine) => Answer;

beforeEach(async () => {
  received = [];
  underWay = 0;
  mostUnderWay = 0;
  answer = ({ turn_id }) => ({ status: 202, body: { turn_id, episode_id: 'e', status: 'accepted' } });
  server = createServer((request, response) => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const turn = JSON.parse(Buffer.concat(chunks).toString()) as TurnLine;
      received.push(turn);
      const { status, body, headers } = answer(turn);
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(status, headers).end(JSON.stringify(body));
      }, 5);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  api = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

function turn(agent: string, n: number): TurnLine {
  const time = new Date(Date.UTC(2026, 8, 1, 0, n)).toISOString();
  return { turn_id: `${agent}-${n}`, agent, started_at: time, ended_at: time, review_outcome: 'done' };
}

describe('replay', () => {
  it('keeps the order of each agent and the bound over all', async () => {
    const turns = [0, 1, 2, 3].flatMap((n) => ['a', 'b', 'c'].map((agent) => turn(agent, n)));
    const posted = await replay({ api, turns, concurrency: 2 });
    for (const agent of ['a', 'b', 'c']) {
      const order = received.filter((sent) => sent.agent === agent).map(({ turn_id }) => turn_id);
      expect(order).toEqual([0, 1, 2, 3].map((n) => `${agent}-${n}`));
    }
    expect(mostUnderWay).toBe(2);
    expect(countsOf(posted)).toBe('12 accepted');
  });

  it('goes on after a refusal and says why', async () => {
    answer = ({ turn_id }) =>
      turn_id === 'a-0'
        ? { status: 422, body: { code: 'request.invalid', errors: [{ path: 'role', message: 'must not be empty' }] } }
        : { status: 200, body: { turn_id: 'first', status: 'duplicate' } };
    const posted = await replay({ api, turns: [turn('a', 0), turn('a', 1)] });
    expect(posted.map(({ problem }) => problem)).toEqual(['422 request.invalid: role must not be empty', undefined]);
    expect(posted[1]?.turnId).toBe('first');
    expect(countsOf(posted)).toBe('1 duplicate, 1 rejected');
  });

  it('tells a conflict from a refusal', async () => {
    answer = () => ({ status: 409, body: { code: 'turn.conflict', detail: 'stored with another content' } });
    expect(countsOf(await replay({ api, turns: [turn('a', 0)] }))).toBe('1 conflict');
  });

  it('waits out a rate limit', async () => {
    let limited = true;
    const accept = answer;
    answer = (sent) => {
      const refused = limited;
      limited = false;
      return refused ? { status: 429, body: {}, headers: { 'retry-after': '0.01' } } : accept(sent);
    };
    expect(countsOf(await replay({ api, turns: [turn('a', 0)] }))).toBe('1 accepted');
    expect(received).toHaveLength(2);
  });

  it('posts nothing more once it is stopped', async () => {
    const stop = new AbortController();
    await replay({ api, turns: [turn('a', 0), turn('a', 1)], signal: stop.signal, onPosted: () => stop.abort() });
    expect(received).toHaveLength(1);
  });
});

describe('readTurns', () => {
  it('reads what is there and names the line that is not JSON', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'replay-'));
    const file = join(directory, 'turns.ndjson');
    await writeFile(file, `\uFEFF${JSON.stringify(turn('a', 1))}\n\n${JSON.stringify(turn('a', 0))}\n`);
    expect(inTimeOrder(await readTurns(file)).map(({ turn_id }) => turn_id)).toEqual(['a-0', 'a-1']);
    await writeFile(file, '{}\n{"turn_id":\n');
    await expect(readTurns(file)).rejects.toThrow(`${file}:2 is not JSON`);
    await rm(directory, { recursive: true });
  });
});
