import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { TestProcess } from './support/child-process.js';
import { freePort } from './support/free-port.mjs';
import { serviceDatabase } from './support/service-process.js';

let directory: string;
let database: Awaited<ReturnType<typeof serviceDatabase>>;
const started: TestProcess[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'boot-spec-'));
  database = await serviceDatabase();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.end('SIGKILL')));
});
afterAll(async () => {
  await database.remove();
  rmSync(directory, { recursive: true, force: true });
});

function service(env: Record<string, string>): TestProcess {
  const process = new TestProcess('../../src/main.ts', { env, keepErrors: true });
  started.push(process);
  return process;
}

function configFile(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

/** What a service that cannot start says, on one stream, ending with code 1. */
async function refusal(env: Record<string, string>): Promise<string[]> {
  const process = service(env);
  expect(await process.exited).toBe(1);
  return process.errors.trimEnd().split('\n');
}

async function untilReady(url: string, process: TestProcess): Promise<void> {
  let running = true;
  void process.exited.then(() => (running = false));
  for (;;) {
    const ready = await fetch(`${url}/health/ready`).then(
      (response) => response.status === 200,
      () => false,
    );
    if (ready) return;
    if (!running) throw new Error(`it ended before it was ready: ${process.errors}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a service that cannot start', () => {
  it('names all that is wrong with its configuration at once', async () => {
    const file = configFile(
      'wrong.yaml',
      [
        'colour: red',
        'rate_limit: { requests_per_minute: 0 }',
        'embeddings: { provider: magic }',
        'llm: { providers: { main: { kind: anthropic, model: m, api_key_env: NOT_SET } } }',
        'organization: { name: Acme, agents: [{ handle: a, role: Ghost }], people: [{ handle: a }] }',
        'secret_env: { Acme: [ADMIN_API_KEY] }',
      ].join('\n'),
    );
    const lines = await refusal({ LEARNING_CONFIG: file, PORT: '99999', HOST: '0.0.0.0', LOG_LEVEL: 'loud' });
    const said = lines.join('\n');
    for (const path of [
      'PORT',
      'HOST',
      'LOG_LEVEL',
      'colour',
      'rate_limit.requests_per_minute',
      'embeddings.provider',
      'llm.providers.main.api_key_env',
      'organization.agents.0.role',
      'organization.people.0.handle',
      'secret_env.Acme',
    ]) {
      expect(lines.filter((line) => line.includes(path))).toHaveLength(1);
    }
    expect(said).not.toMatch(/\n\s+at |node_modules/);
  });

  it('says so in a line where its configuration file cannot be read', async () => {
    const file = configFile('broken.yaml', 'a: [1\nb: }');
    const lines = await refusal({ LEARNING_CONFIG: file });
    expect(lines.length).toBeLessThanOrEqual(3);
    expect(lines.join('\n')).toContain(file);
    expect(lines.join('\n')).not.toMatch(/\n\s+at |node_modules/);
  });

  it.each([
    ['nobody listens', 'postgres://user:hunter2@127.0.0.1:1/db', /127\.0\.0\.1:1/],
    ['the host is unknown', 'postgres://user:hunter2@no-such-host.invalid/db', /no-such-host\.invalid/],
  ])('says so in a line where %s at DATABASE_URL, without the password', async (_, url, expected) => {
    const lines = await refusal({ DATABASE_URL: url, PORT: '0' });
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines.join('\n')).toMatch(expected);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});

describe('a service that can start', () => {
  let taken: Server;
  beforeAll(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void taken.close());

  it('listens, logs where, answers what it was asked before SIGTERM, and ends with 0', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const process = service({ ...database.env, PORT: String(port), NODE_ENV: 'production' });
    await untilReady(url, process);
    await process.wrote(1);
    // JSON logs in production, and one line that says where.
    const log = process.lines.map((line) => JSON.parse(line) as { message: string });
    expect(log.filter(({ message }) => message.includes(`127.0.0.1:${port}`))).toHaveLength(1);

    const turn = {
      turn_id: '5b0f3f3e-8a06-4a5c-9d3e-000000000001',
      agent: 'support-1',
      role: 'support',
      task_description: 'x',
      plan: { decision: 'plan' },
      tool_sequence: [],
      review_outcome: 'done',
      started_at: '2026-11-02T09:00:00Z',
      ended_at: '2026-11-02T09:01:00Z',
    };
    const posted = fetch(`${url}/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(turn),
    });
    expect((await posted).status).toBe(202);
    const asked = Promise.allSettled(Array.from({ length: 5 }, () => fetch(`${url}/agents`)));
    expect(await process.end('SIGTERM')).toBe(0);
    // What arrives after the signal is refused.
    for (const answer of await asked)
      if (answer.status === 'fulfilled') expect([200, 503]).toContain(answer.value.status);
    await expect(fetch(`${url}/health/live`)).rejects.toThrow();

    // What was acknowledged is there after a start that finds its port taken, and the next one.
    const { port: takenPort } = taken.address() as AddressInfo;
    const lines = await refusal({ ...database.env, PORT: String(takenPort), LOG_LEVEL: 'fatal' });
    expect(lines).toEqual([`port ${takenPort} is taken: stop what listens there, or set PORT to another`]);
    const told = await refusal({ ...database.env, HOST: '192.0.2.1', ADMIN_API_KEY: 'k', LOG_LEVEL: 'fatal' });
    expect(told).toEqual([expect.stringMatching(/^HOST 192\.0\.2\.1 is no address of this machine/)]);
    const next = service({ ...database.env, PORT: String(port), LOG_LEVEL: 'warn' });
    await untilReady(url, next);
    expect((await fetch(`${url}/turns/${turn.turn_id}`)).status).toBe(200);
    expect(await next.end('SIGTERM')).toBe(0);
    expect(next.errors).toBe('');
  }, 60_000);
});
