import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres/server.mjs';
import { emptyDatabase } from '../test/support/postgres-clones.js';
import { ScriptedModel } from '../test/support/scripted-model.js';
import { ServiceProcess } from '../test/support/service-process.js';

/** What a suite measures: the built service as a process of its own on an empty database, and the model that it asks. */
export class Bench {
  private readonly undo: (() => unknown)[] = [];

  private directory: string;
  private databaseUrl: string | null = null;

  constructor(private readonly usesPostgres: boolean) {}

  /** @param config what learning.yaml says, where the suite needs something else than the defaults or `LEARNING_CONFIG` */
  async start(config?: Record<string, unknown>): Promise<{ service: ServiceProcess; model: ScriptedModel }> {
    const directory = mkdtempSync(join(tmpdir(), 'agent-learning-bench-'));
    this.directory = directory;
    this.undo.push(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'learning.yaml');
    if (config) writeFileSync(file, JSON.stringify(config));
    if (this.usesPostgres) this.databaseUrl = await this.postgres();
    const model = await ScriptedModel.start();
    this.undo.push(() => model.close());
    const env: Record<string, string> = {
      TMPDIR: directory,
      LEARNING_CONFIG: config ? file : (process.env.LEARNING_CONFIG ?? devNull),
      LOG_LEVEL: 'error',
      ANTHROPIC_API_KEY: 'scripted',
      ANTHROPIC_BASE_URL: model.anthropicUrl,
      ...(this.databaseUrl ? { DATABASE_URL: this.databaseUrl } : { DATA_DIR: join(directory, 'data') }),
    };
    const starting = ServiceProcess.start(env, '../../dist/src/main.js');
    // Nothing that it could still put in order outlives it.
    this.undo.push(() => starting.then((service) => service.end('SIGKILL')).catch(() => undefined));
    return { service: await starting, model };
  }

  /** Something that `stop` is to end, too. */
  defer(end: () => unknown): void {
    this.undo.push(end);
  }

  /** A connection to the service's own database, for the bare statement that a figure is compared with. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client(this.databaseUrl ?? this.embeddedUrl());
    await client.connect();
    this.undo.push(() => client.end());
    return client;
  }

  /** Ends whatever was started, the last first. */
  async stop(): Promise<void> {
    for (let step = this.undo.pop(); step; step = this.undo.pop()) await step();
  }

  /** The embedded database listens in a directory named after its own. */
  private embeddedUrl(): string {
    const hash = createHash('sha256').update(realpathSync(join(this.directory, 'data')));
    const socket = join(this.directory, `agent-learning-${hash.digest('hex').slice(0, 16)}`);
    return `postgresql://postgres@${encodeURIComponent(socket)}/postgres`;
  }

  private async postgres(): Promise<string> {
    const server = process.env.DATABASE_URL ? null : await startPostgres();
    if (server) this.undo.push(server.stop);
    const { urls, drop } = await emptyDatabase(server?.url ?? process.env.DATABASE_URL!);
    this.undo.push(drop);
    return urls[0]!;
  }
}

export type Row = (string | number)[];

/** Milliseconds that `work` took, and what it answered. */
export async function timed<Value>(work: () => Promise<Value>): Promise<{ ms: number; value: Value }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

/** For each of `parts` the value that this share of them does not exceed. */
export function quantiles(values: readonly number[], ...parts: number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  return parts.map((part) => sorted[Math.ceil(part * sorted.length) - 1]!);
}

/** Prints columns aligned, the first to the left; the first row is the head. */
export function printTable(rows: readonly Row[]): void {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell)));
  const widths = texts[0]!.map((_, column) => Math.max(...texts.map((row) => row[column]!.length)));
  const pad = (text: string, at: number): string => (at === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[at]!));
  for (const row of texts) console.log(row.map(pad).join('  '));
}
