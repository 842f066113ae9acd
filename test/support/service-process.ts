import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestProcess } from './child-process.js';
import { testConnection } from './database.js';
import { migratedTar } from './embedded-tars.js';
import { freePort } from './free-port.mjs';

/** The service as a process of its own, so that it can be killed; on Postgres several may share one database. */
export class ServiceProcess {
  private constructor(
    readonly url: string,
    private readonly process: TestProcess,
  ) {}

  /** Resolves once `/health/ready` answers 200; `main` is relative to `test/support`. */
  static async start(env: Record<string, string>, main = '../../src/main.ts'): Promise<ServiceProcess> {
    const port = await freePort();
    const process = new TestProcess(main, { env: { LOG_LEVEL: 'warn', ...env, PORT: String(port) } });
    const service = new ServiceProcess(`http://127.0.0.1:${port}`, process);
    await service.ready().catch(async (error: unknown) => {
      await process.end('SIGKILL');
      throw error;
    });
    return service;
  }

  /** Answers with the exit code; null after SIGKILL. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    return this.process.end(signal);
  }

  async get<Body>(path: string): Promise<Body> {
    const response = await fetch(this.url + path);
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  async post<Body>(path: string, body: unknown): Promise<{ status: number; body: Body }> {
    const { status, text } = await this.postText(path, body);
    return { status, body: JSON.parse(text) as Body };
  }

  /** The answer byte by byte. */
  async postText(path: string, body: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  /** Walks all pages of a list. */
  async all<Item>(path: string): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: { items: Item[]; next_cursor: string | null } = await this.get(`${path}?limit=200${query}`);
      items.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return items;
  }

  private async ready(): Promise<void> {
    const deadline = Date.now() + 60_000;
    let ended: string | undefined;
    void this.process.exited.then((code) => (ended = `the service ended with ${code} before it was ready`));
    while (Date.now() < deadline) {
      if (ended) throw new Error(ended);
      const answered = await fetch(`${this.url}/health/ready`).then(
        (response) => response.ok,
        () => false,
      );
      if (answered) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the service was not ready in time');
  }
}

/**
 * Where a service process keeps its data: the Postgres of this Jest worker, else an embedded database of its own, which
 * outlives the process. It is migrated already, which saves the start some seconds.
 */
export async function serviceDatabase(): Promise<{ env: Record<string, string>; remove(): Promise<void> }> {
  const address = testConnection();
  if ('databaseUrl' in address) return { env: { DATABASE_URL: address.databaseUrl }, remove: () => Promise.resolve() };
  const directory = await mkdtemp(join(tmpdir(), 'agent-learning-data-'));
  const postgres = join(directory, 'postgres');
  await mkdir(postgres, { mode: 0o700 });
  await promisify(execFile)('tar', ['-xf', await migratedTar(), '-C', postgres]);
  return { env: { DATA_DIR: directory }, remove: () => rm(directory, { recursive: true, force: true }) };
}
