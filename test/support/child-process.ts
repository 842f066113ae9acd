import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

interface TestProcessOptions {
  args?: string[];
  env?: Record<string, string>;
  keepErrors?: boolean;
}

/** A Node process that runs one of our files, built ones as they are. */
export class TestProcess {
  /** Lines of stdout so far. */
  readonly lines: string[] = [];
  /** What it wrote to stderr so far, where `keepErrors` was asked for; else that is shown. */
  errors = '';
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;
  private readonly reader: Interface;

  /** @param file relative to `test/support` */
  constructor(file: string, { args = [], env = {}, keepErrors = false }: TestProcessOptions = {}) {
    const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
    const loader = file.endsWith('.ts') ? ['--import', path('typescript.mjs')] : [];
    this.child = spawn(process.execPath, [...loader, path(file), ...args], {
      env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...env },
      stdio: ['ignore', 'pipe', keepErrors ? 'pipe' : 'inherit'],
    });
    if (!this.child.stdout) throw new Error('the process has no stdout');
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    this.reader = createInterface({ input: this.child.stdout });
    this.reader.on('line', (line) => this.lines.push(line));
    this.exited = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  /** Resolves once `count` lines were written; fails if the process ends before. */
  async wrote(count: number): Promise<void> {
    while (this.lines.length < count) {
      await Promise.race([
        new Promise((resolve) => this.reader.once('line', resolve)),
        this.exited.then((code) => {
          if (this.lines.length < count) throw new Error(`ended with ${code} after: ${this.lines.join(' | ')}`);
        }),
      ]);
    }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}
