import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import type { ApiClient } from './api-client.js';

const READY_TIMEOUT_MS = 120_000;
const CONFLICT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 150;
const EXIT_GRACE_MS = 500;
const TAIL_LENGTH = 4_000;

/** The service ended before it could serve; `message` is what it said on the way out. */
export class ServiceEnded extends Error {
  constructor(
    readonly exitCode: number | null,
    message: string,
  ) {
    super(message);
    this.name = 'ServiceEnded';
  }
}

export interface ServiceOptions {
  /** The built entry file. */
  entry: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Takes everything that the service prints. */
  logFile: string;
}

/** `agent-learning` as a child process. */
export class ServiceProcess {
  private readonly exited: Promise<number | null>;
  private tail = '';

  private constructor(private readonly child: ChildProcess) {
    this.exited = once(child, 'exit').then(([code]) => code as number | null);
  }

  static start({ entry, cwd, env, logFile }: ServiceOptions): ServiceProcess {
    // A process group of its own: a terminal's Ctrl-C reaches the demo alone, which then stops the service in order.
    const child = spawn(process.execPath, [entry], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const service = new ServiceProcess(child);
    const log = createWriteStream(logFile, { flags: 'a' });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    child.stderr?.on('data', (chunk: Buffer) => {
      service.tail = (service.tail + chunk.toString()).slice(-TAIL_LENGTH);
    });
    child.once('close', () => log.end());
    return service;
  }

  /** What `work` answers; throws `ServiceEnded` if the service exits meanwhile. */
  async during<Value>(work: Promise<Value>): Promise<Value> {
    const lost = this.exited.then(async (code): Promise<never> => {
      throw await this.ended(code);
    });
    try {
      return await Promise.race([lost, work]);
    } catch (error) {
      // A call that broke off is often the first to tell that the service is gone; its exit says more.
      await Promise.race([lost, pause(EXIT_GRACE_MS)]);
      throw error;
    }
  }

  /** Resolves once `/health/ready` answers 200; throws `ServiceEnded` if the service gives up first. */
  async ready(api: ApiClient): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const over = await Promise.race([this.exited.then((code) => ({ code })), pause(POLL_MS)]);
      if (over) throw await this.ended(over.code);
      if (await answersReady(api)) return;
    }
    throw new Error(`the service was not ready after ${READY_TIMEOUT_MS / 1_000} s`);
  }

  /**
   * For an address that somebody else held at the start: gives the service the time to find out, and throws what it
   * said then. Whoever answers there meanwhile is never asked anything.
   */
  async outlastsConflict(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, CONFLICT_MS, undefined);
    });
    const over = await Promise.race([this.exited.then((code) => ({ code })), late]);
    // Else it would keep the demo from ending.
    clearTimeout(timer);
    if (over) throw await this.ended(over.code);
  }

  /** Asks the service to end and waits; kills it if it does not. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.exited;
    clearTimeout(late);
  }

  private async ended(code: number | null): Promise<ServiceEnded> {
    // The last words may still be in the pipe when the process is gone.
    if (this.child.stderr && !this.child.stderr.closed)
      await Promise.race([once(this.child.stderr, 'close'), pause(1_000)]);
    return new ServiceEnded(code, lastWords(this.tail) || `the service ended with code ${code} and said nothing`);
  }
}

/** True where something already listens on the address, so that whoever answers there is not the demo's own service. */
export async function isTaken(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  } finally {
    probe.close();
  }
}

/** A port that nothing listens on at the moment. */
export async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error(`no port is free on ${host}`);
  return address.port;
}

/** What was written for a person; the framework's log lines, which say the same at length, stay in the log. */
function lastWords(output: string): string {
  const lines = output.split('\n').filter((line) => !line.includes('[Nest]'));
  return lines.join('\n').trim();
}

async function answersReady(api: ApiClient): Promise<boolean> {
  try {
    return (await api.request('GET', '/health/ready')).status === 200;
  } catch (error) {
    // Nothing listens yet; the caller asks again until the deadline.
    if (error instanceof TypeError || (error as Error).name === 'TimeoutError') return false;
    throw error;
  }
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}
